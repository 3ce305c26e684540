//! Statements that read, on databases the operator granted. They need the power `sql`: see
//! [`Capability`](crate::Capability).
//!
//! ```
//! use wasmres::{sql, Request, Result};
//!
//! fn born_after(r: &Request) -> Result<String> {
//!     let year: i32 = r.parse("year")?;
//!     let mut text = String::new();
//!     for row in sql::query("main", "select name, score from users where born > $1").bind(year).rows()? {
//!         let row = row?;
//!         let name: String = row.get("name")?;
//!         let score: Option<f64> = row.get("score")?;
//!         text += &format!("{} {}\n", name, score.unwrap_or(0.0));
//!     }
//!     Ok(text)
//! }
//! ```
//!
//! In native tests [`Host::sql`](crate::testing::Host::sql) answers them.

use std::fmt;
use std::rc::Rc;

use crate::wire::{Decoded, Encoder, Fields, Malformed};
use crate::{abi, host, Code, Error, Result};

pub use crate::value::{FromValue, Value};

/// Begins a statement on a connection, which has the name that the operator gave it.
///
/// The statement is in the database's own words: parameters are `$1`, `$2` for PostgreSQL, `?` for MySQL and MariaDB,
/// and `?1`, `?2` for SQLite. The database lets nothing but reading through.
pub fn query(connection: &str, statement: &str) -> Query {
    let mut request = Encoder::with_capacity(256);
    request.text(1, connection);
    request.text(2, statement);
    Query { request }
}

/// A statement with its arguments: see [`query`].
#[derive(Clone, Debug)]
#[must_use = "nothing is asked before the rows are"]
pub struct Query {
    request: Encoder,
}

impl Query {
    /// Adds the argument of the next parameter: a `bool`, an integer, a float, text, bytes, an [`Option`] of them,
    /// whose `None` is null, or a [`Value`].
    pub fn bind(mut self, argument: impl Into<Value>) -> Self {
        let argument = argument.into();
        self.request.message(3, |value| argument.encode(value));
        self
    }

    /// Runs the statement and gives its rows as they are read, in parts: a table of any size takes little memory. A
    /// call may read four statements at the same time, and those it has not read to their end are over when it is.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidParams`] when the database does not accept the statement or an argument, [`Code::Denied`] when
    /// the connection is not granted or the statement does more than read, [`Code::Unavailable`] when the database
    /// cannot be reached, [`Code::Deadline`] when it takes too long, and [`Code::TooLarge`] when there is more than is
    /// granted. Rows that come later may fail likewise.
    pub fn rows(self) -> Result<Rows> {
        Rows::open(&self.request)
    }

    /// Gives the request for so many rows and no more.
    pub(crate) fn at_most(mut self, rows: u64) -> Encoder {
        self.request.number(4, rows);
        self.request
    }

    /// Runs the statement and gives its first row; no other one is fetched. Without one the error is
    /// [`Code::NotFound`]; others are as with [`Query::rows`].
    pub fn row(self) -> Result<Row> {
        Rows::open(&self.at_most(1))?.next().unwrap_or_else(|| Err(Code::NotFound.into()))
    }
}

/// Describes the values of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type, as the database calls it; empty when it does not say.
    pub type_name: String,
}

impl Column {
    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut column = Column::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => column.name = field.text()?.to_owned(),
                2 => column.type_name = field.text()?.to_owned(),
                _ => {}
            }
        }
        Ok(column)
    }
}

/// The rows that a statement gives, one after the other. It ends with the first that cannot be had.
#[derive(Debug)]
pub struct Rows {
    columns: Rc<[Column]>,
    part: Vec<u8>,
    read: usize, // bytes of part that have been read
    stream: u64, // by which the host gives the next part; 0 when there is none
}

impl Rows {
    fn open(request: &Encoder) -> Result<Self> {
        let part = host::ask(abi::SERVICE_SQL, request.as_bytes())?;
        let (columns, stream) = head(&part).map_err(host::malformed)?;
        Ok(Rows { columns: columns.into(), part, read: 0, stream })
    }

    /// Describes the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Gives the next row of the part that there is.
    fn next_of_part(&mut self) -> Decoded<Option<Row>> {
        let mut fields = Fields::of(&self.part[self.read..]);
        while let Some(field) = fields.next() {
            let field = field?;
            if field.number == 2 {
                self.read = self.part.len() - fields.rest().len();
                return Row::decode(field.bytes()?, &self.columns).map(Some);
            }
        }
        self.read = self.part.len();
        Ok(None)
    }

    /// Fetches the next part.
    fn fetch(&mut self) -> Result<()> {
        let mut request = Encoder::default();
        request.number(1, self.stream);
        let part = host::ask(abi::SERVICE_SQL_ROWS, request.as_bytes())?;
        let (columns, stream) = head(&part).map_err(host::malformed)?;
        if !columns.is_empty() {
            return Err(host::malformed(Malformed));
        }
        (self.part, self.read, self.stream) = (part, 0, stream);
        Ok(())
    }

    fn next_row(&mut self) -> Result<Option<Row>> {
        loop {
            if let Some(row) = self.next_of_part().map_err(host::malformed)? {
                return Ok(Some(row));
            }
            if self.stream == 0 {
                return Ok(None);
            }
            self.fetch()?;
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.next_row();
        if row.is_err() {
            (self.read, self.stream) = (self.part.len(), 0);
        }
        row.transpose()
    }
}

/// Gives the columns of a part, and its stream.
fn head(part: &[u8]) -> Decoded<(Vec<Column>, u64)> {
    let (mut columns, mut stream) = (Vec::new(), 0);
    for field in Fields::of(part) {
        let field = field?;
        match field.number {
            1 => columns.push(Column::decode(field.bytes()?)?),
            3 => stream = field.u64()?,
            _ => {}
        }
    }
    Ok((columns, stream))
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    columns: Rc<[Column]>,
    values: Vec<Value>,
}

impl Row {
    /// Describes the values.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Gives the values, in the order of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Gives the value of a column, by its number from 0 on or its name, as a type that it has: see [`FromValue`].
    ///
    /// # Errors
    ///
    /// [`Code::Internal`] when it is no such value, or there is no such column. The log says which; what a database
    /// holds is none of the client's business.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T> {
        let index = column.find(&self.columns).filter(|&index| index < self.values.len());
        let index = index.ok_or_else(|| Error::internal(format!("there is no column {}", column)))?;
        let value = &self.values[index];
        T::from_value(value).ok_or_else(|| {
            let name = &self.columns[index].name;
            Error::internal(format!("column {} is {}, not {}", name, value.kind(), T::NAME))
        })
    }

    fn decode(message: &[u8], columns: &Rc<[Column]>) -> Decoded<Self> {
        let mut values = Vec::with_capacity(columns.len());
        for field in Fields::of(message) {
            let field = field?;
            if field.number == 1 {
                values.push(Value::decode(field.bytes()?)?);
            }
        }
        if values.len() != columns.len() {
            return Err(Malformed);
        }
        Ok(Row { columns: Rc::clone(columns), values })
    }
}

/// What a column is found by: its number from 0 on, or its name, of which the first counts.
pub trait ColumnIndex: fmt::Display {
    /// Gives the number of the column; none when there is no such column.
    fn find(&self, columns: &[Column]) -> Option<usize>;
}

impl ColumnIndex for usize {
    fn find(&self, columns: &[Column]) -> Option<usize> {
        Some(*self).filter(|&index| index < columns.len())
    }
}

impl ColumnIndex for &str {
    fn find(&self, columns: &[Column]) -> Option<usize> {
        columns.iter().position(|column| column.name == *self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::script::answering;

    const COLUMN: &[u8] = b"\x0a\x03\x0a\x01n";
    const SEVEN: &[u8] = b"\x12\x06\x0a\x04\x08\x02\x10\x07";
    const STREAM: &[u8] = b"\x18\x01";

    /// Gives the integers of the rows before the first failure, and that.
    fn read(parts: &[&[&[u8]]]) -> (Vec<i64>, Option<Code>) {
        let parts: Vec<Vec<u8>> = parts.iter().map(|fields| fields.concat()).collect();
        let answers: Vec<_> = parts.iter().map(|part| (0, &part[..], &b""[..])).collect();
        answering(&answers, || {
            let mut numbers = Vec::new();
            let mut rows = match query("main", "").rows() {
                Ok(rows) => rows,
                Err(error) => return (numbers, Some(error.code())),
            };
            for row in &mut rows {
                match row.and_then(|row| row.get(0)) {
                    Ok(number) => numbers.push(number),
                    Err(error) => {
                        assert!(rows.next().is_none(), "there are rows after a failure");
                        return (numbers, Some(error.code()));
                    }
                }
            }
            (numbers, None)
        })
    }

    #[test]
    fn parts_are_joined() {
        assert_eq!(read(&[&[COLUMN]]), (vec![], None));
        assert_eq!(read(&[&[SEVEN, COLUMN, SEVEN]]), (vec![7, 7], None));
        let parts: [&[&[u8]]; 4] = [&[COLUMN, STREAM], &[STREAM, SEVEN], &[STREAM], &[SEVEN, SEVEN]];
        assert_eq!(read(&parts), (vec![7, 7, 7], None));
    }

    #[test]
    fn answers_that_make_no_sense_are_refused() {
        let refused: [(&[&[&[u8]]], usize); 9] = [
            (&[&[b"\x0a"]], 0),
            (&[&[b"\x0a\x01\x0a"]], 0),
            (&[&[COLUMN, b"\x1a\x00"]], 0),
            (&[&[SEVEN]], 0),                                        // a value without a column
            (&[&[COLUMN, SEVEN, b"\x12\x00"]], 1),                   // a column without a value
            (&[&[COLUMN, SEVEN, b"\x12\x01\x0a"]], 1),               // half a field
            (&[&[COLUMN, SEVEN, b"\x12\x04\x0a\x02\x08\x06"]], 1),   // a value of kind 6
            (&[&[COLUMN, SEVEN, STREAM], &[COLUMN, SEVEN]], 1),      // columns of a later part
            (&[&[COLUMN, SEVEN, STREAM], &[SEVEN, b"\x12\x7f"]], 1), // half a part
        ];
        for (parts, rows) in refused {
            assert_eq!(read(parts), (vec![7; rows], Some(Code::Internal)), "{:x?}", parts);
        }
    }
}
