//! Protocols as values of a flag: more than a fixed list of words, because some of them have a number, and listed in help all the same.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use treering_eval::{Listed, Protocol};

/// Reads a protocol's text form.
#[derive(Clone)]
pub(super) struct ProtocolParser;

impl TypedValueParser for ProtocolParser {
    type Value = Protocol;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Protocol, Error> {
        StringValueParser::new()
            .try_map(|text| text.parse::<Protocol>())
            .parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = Protocol::all().iter();
        let value = |known: &Listed| PossibleValue::new(known.name).help(known.summary);
        Some(Box::new(all.map(value)))
    }
}
