//! The migrations are part of the crate: it is built anew when one is added or changed.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
