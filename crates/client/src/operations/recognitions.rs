use crate::api::Api;
use crate::call::Call;
use crate::objects::{DryRun, NewRecognition, Recognitions};

/// Recognitions (behaviour 15, 25.3).
impl<C> Api<C> {
    /// Sends a recognition to each receiver, or to none if one of them is refused.
    pub fn send_recognition(&self, recognition: &NewRecognition) -> Call<'_, C, Recognitions> {
        self.post("/recognitions", recognition)
    }

    /// Checks whether a recognition could be sent and computes its cost. Nothing changes.
    pub fn dry_run_recognition(&self, recognition: &NewRecognition) -> Call<'_, C, DryRun> {
        self.post("/recognitions/dry_run", recognition)
    }
}
