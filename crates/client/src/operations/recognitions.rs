use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::objects::{DryRun, NewRecognition, Recognition, Recognitions};

/// Recognitions (behaviour 15, 25.3, 25.7).
impl<C> Api<C> {
    /// Sends a recognition to each receiver, or to none if one of them is refused.
    pub fn send_recognition(&self, recognition: &NewRecognition) -> Call<'_, C, Recognitions> {
        self.post("/recognitions", recognition)
    }

    /// Fetches a recognition.
    pub fn get_recognition(&self, id: Uuid) -> Call<'_, C, Recognition> {
        self.get(format!("/recognitions/{id}"))
    }

    /// Checks whether a recognition could be sent and computes its cost. Nothing changes.
    pub fn dry_run_recognition(&self, recognition: &NewRecognition) -> Call<'_, C, DryRun> {
        self.post_without_effect("/recognitions/dry_run", recognition)
    }
}
