#!/bin/sh
# Runs rustdoc with the options that stable compilers offer only with this variable.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
