//! The service's own settings.

use diesel::prelude::*;
use guerdon_domain::ports::{ReadSettings, Setting, Settings, StoreError};

use super::Unit;
use crate::rows::schema::settings;

impl ReadSettings for Unit<'_> {
    fn get_setting(&mut self, setting: Setting) -> Result<Option<String>, StoreError> {
        self.query(|conn| {
            settings::table.find(setting.name()).select(settings::value).get_result(conn).optional()
        })
    }
}

impl Settings for Unit<'_> {
    fn set_setting(&mut self, setting: Setting, value: &str) -> Result<(), StoreError> {
        self.execute(|conn| {
            diesel::insert_into(settings::table)
                .values((settings::name.eq(setting.name()), settings::value.eq(value)))
                .on_conflict(settings::name)
                .do_update()
                .set(settings::value.eq(value))
                .execute(conn)
        })
    }

    fn replace_setting(
        &mut self,
        setting: Setting,
        expected: Option<&str>,
        value: &str,
    ) -> Result<bool, StoreError> {
        let replaced = self.query(|conn| match expected {
            Some(expected) => diesel::update(settings::table.find(setting.name()))
                .filter(settings::value.eq(expected))
                .set(settings::value.eq(value))
                .execute(conn),
            None => diesel::insert_into(settings::table)
                .values((settings::name.eq(setting.name()), settings::value.eq(value)))
                .on_conflict_do_nothing()
                .execute(conn),
        })?;
        Ok(replaced == 1)
    }
}
