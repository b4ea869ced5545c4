use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::objects::{Corporation, CorporationUpdate, ListedCompany, NewCorporation};
use crate::pagination::List;

/// Corporations (behaviour 12).
impl<C> Api<C> {
    /// Creates a corporation.
    pub fn create_corporation(&self, name: &str) -> Call<'_, C, Corporation> {
        self.post("/corporations", &NewCorporation { name: name.to_owned() })
    }

    /// Lists the provider's corporations, oldest first.
    pub fn list_corporations(&self) -> List<'_, C, Corporation> {
        List::from_path(self, "/corporations".to_owned())
    }

    /// Fetches a corporation.
    pub fn get_corporation(&self, id: Uuid) -> Call<'_, C, Corporation> {
        self.get(format!("/corporations/{id}"))
    }

    /// Changes a corporation.
    pub fn update_corporation(&self, id: Uuid, update: &CorporationUpdate) -> Call<'_, C, Corporation> {
        self.put(format!("/corporations/{id}"), update)
    }

    /// Lists the companies of a corporation, oldest first.
    pub fn list_corporation_companies(&self, id: Uuid) -> List<'_, C, ListedCompany> {
        List::from_path(self, format!("/corporations/{id}/companies"))
    }
}
