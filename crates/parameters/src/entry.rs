//! One entry of a plan, to set one parameter.

use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess};

/// A map of one value whose key was read.
pub(crate) struct OneEntry(pub(crate) Option<serde_json::Value>);

impl<'de> MapAccess<'de> for OneEntry {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _seed: K) -> Result<Option<K::Value>, Self::Error> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        let value = self.0.take().ok_or_else(|| serde_json::Error::custom("no value"))?;
        seed.deserialize(value.into_deserializer())
    }
}
