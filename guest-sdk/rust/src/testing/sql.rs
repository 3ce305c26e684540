//! The services that query databases.

use std::rc::Rc;

use super::http::decode_stream;
use crate::sql::Value;
use crate::wire::{Decoded, Encoder, Fields};
use crate::{Code, Result};

/// How many rows one answer has at most: few, so that a second one is usual.
const PART: usize = 3;

/// Answers statements: see [`Host::sql`](super::Host::sql).
pub(super) type Database = dyn Fn(&str, &[Value]) -> Result<Table>;

/// What a statement gives: see [`Host::sql`](super::Host::sql).
///
/// ```
/// use wasmres::testing::Table;
///
/// let table = Table::new(["id", "name"]).row([1.into(), "Ada".into()]).row([2.into(), "Bob".into()]);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// Makes a table of columns with these names, and no rows.
    pub fn new<N: Into<String>>(columns: impl IntoIterator<Item = N>) -> Self {
        Table { columns: columns.into_iter().map(N::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// When it has not one value for each column.
    pub fn row(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        let row: Vec<Value> = values.into_iter().collect();
        assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
        self.rows.push(row);
        self
    }
}

/// The rows of one call that are yet to be asked for. The number of a stream is the index plus one.
#[derive(Default)]
pub(super) struct Cursors(Vec<std::vec::IntoIter<Vec<Value>>>);

impl Cursors {
    /// Has a statement answered, and gives the first rows.
    pub(super) fn query(
        &mut self,
        database: impl FnOnce(&str) -> Option<Rc<Database>>,
        request: &[u8],
    ) -> Result<Encoder, Code> {
        let asked = Asked::decode(request).expect("a request is well formed");
        let database = database(asked.connection).ok_or(Code::Denied)?;
        let mut table = database(asked.statement, &asked.arguments).map_err(|error| error.code())?;
        if asked.max_rows > 0 {
            table.rows.truncate(usize::try_from(asked.max_rows).unwrap_or(usize::MAX));
        }
        let mut response = Encoder::default();
        for name in &table.columns {
            response.message(1, |column| column.text(1, name));
        }
        self.0.push(table.rows.into_iter());
        self.part(self.0.len() as u64, &mut response)?;
        Ok(response)
    }

    /// Gives the next rows.
    pub(super) fn next(&mut self, request: &[u8]) -> Result<Encoder, Code> {
        let mut response = Encoder::default();
        self.part(decode_stream(request).expect("a request is well formed"), &mut response)?;
        Ok(response)
    }

    fn part(&mut self, stream: u64, response: &mut Encoder) -> Result<(), Code> {
        let rows = usize::try_from(stream).ok().and_then(|stream| self.0.get_mut(stream.checked_sub(1)?));
        let rows = rows.ok_or(Code::InvalidParams)?;
        for row in rows.by_ref().take(PART) {
            response.message(2, |message| row.iter().for_each(|value| message.message(1, |m| value.encode(m))));
        }
        response.number(3, if rows.len() > 0 { stream } else { 0 });
        Ok(())
    }
}

/// What a statement is.
#[derive(Default)]
struct Asked<'a> {
    connection: &'a str,
    statement: &'a str,
    arguments: Vec<Value>,
    max_rows: u64,
}

impl<'a> Asked<'a> {
    fn decode(request: &'a [u8]) -> Decoded<Self> {
        let mut asked = Asked::default();
        for field in Fields::of(request) {
            let field = field?;
            match field.number {
                1 => asked.connection = field.text()?,
                2 => asked.statement = field.text()?,
                3 => asked.arguments.push(Value::decode(field.bytes()?)?),
                4 => asked.max_rows = field.u64()?,
                _ => {}
            }
        }
        Ok(asked)
    }
}
