use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::objects::{NewOccasion, Occasion, OccasionUpdate};

/// Occasions (behaviour 14).
impl<C> Api<C> {
    /// Creates an occasion.
    pub fn create_occasion(&self, occasion: &NewOccasion) -> Call<'_, C, Occasion> {
        self.post("/occasions", occasion)
    }

    /// Fetches an occasion.
    pub fn get_occasion(&self, id: Uuid) -> Call<'_, C, Occasion> {
        self.get(format!("/occasions/{id}"))
    }

    /// Changes an occasion; a global one cannot be changed.
    pub fn update_occasion(&self, id: Uuid, update: &OccasionUpdate) -> Call<'_, C, Occasion> {
        self.put(format!("/occasions/{id}"), update)
    }

    /// Deletes an occasion; a global one cannot be deleted.
    pub fn delete_occasion(&self, id: Uuid) -> Call<'_, C, ()> {
        self.delete(format!("/occasions/{id}"))
    }
}
