//! The grammar of templates, and which is the more specific one.

use std::ops::Range;

use super::symbol::{self, symbols, Symbol, UNRESERVED};

pub(super) struct Template<'a> {
    source: &'a str,
    pub(super) parts: Vec<Part>,
    pub(super) variables: Vec<Variable<'a>>,
}

pub(super) enum Part {
    Literal(Vec<Symbol>),
    Expression(Expression),
}

/// What stands between braces.
pub(super) struct Expression {
    operator: Option<char>,
    pub(super) marker: Option<char>, // stands before the first value
    pub(super) separator: char,      // stands between two
    pub(super) variables: Range<usize>,
}

pub(super) struct Variable<'a> {
    pub(super) name: &'a str,
    pub(super) key: Vec<Symbol>, // the name in normal form
    pub(super) part: usize,
    pub(super) limit: usize, // characters of a value
    pub(super) explode: bool,
    pub(super) list: Option<char>, // between the elements of a value that may be a list
    ascii: String,                 // what a value may hold
}

impl Expression {
    fn new(operator: Option<char>, variables: Range<usize>) -> Self {
        let (marker, separator) = match operator {
            Some('#') => (operator, ','),
            Some('?') => (operator, '&'),
            Some(mark @ ('.' | '/' | ';' | '&')) => (operator, mark),
            _ => (None, ','),
        };
        Expression { operator, marker, separator, variables }
    }

    /// Reports whether values come as `name=value`.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.operator, Some(';' | '?' | '&'))
    }

    fn is_reserved(&self) -> bool {
        matches!(self.operator, Some('+' | '#'))
    }
}

impl Variable<'_> {
    pub(super) fn may_hold(&self, symbol: Symbol) -> bool {
        symbol::may_hold(&self.ascii, symbol)
    }
}

impl<'a> Template<'a> {
    pub(super) fn parse(source: &'a str) -> Result<Self, String> {
        let mut template = Template { source, parts: Vec::new(), variables: Vec::new() };
        let mut rest = source;
        while !rest.is_empty() {
            let (literal, expression) = rest.split_once('{').map_or((rest, None), |(l, e)| (l, Some(e)));
            if literal.contains('}') {
                return Err("closing brace without an opening one".to_owned());
            }
            if !literal.is_empty() {
                template.parts.push(Part::Literal(symbols(literal)));
            }
            rest = match expression {
                Some(expression) => {
                    let (inside, rest) = expression.split_once('}').ok_or("expression is never closed")?;
                    template.add_expression(inside)?;
                    rest
                }
                None => "",
            };
        }
        template.classify();
        Ok(template)
    }

    fn add_expression(&mut self, inside: &'a str) -> Result<(), String> {
        let operator = inside.chars().next().filter(|&c| "+#./;?&".contains(c));
        let first = self.variables.len();
        for spec in inside[operator.map_or(0, char::len_utf8)..].split(',') {
            self.add_variable(spec)?;
        }
        self.parts.push(Part::Expression(Expression::new(operator, first..self.variables.len())));
        Ok(())
    }

    fn add_variable(&mut self, spec: &'a str) -> Result<(), String> {
        let (spec, limit) = spec.split_once(':').map_or((spec, None), |(spec, limit)| (spec, Some(limit)));
        let name = if limit.is_none() { spec.strip_suffix('*').unwrap_or(spec) } else { spec };
        let is_plain =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_%".contains(c));
        if !name.split('.').all(is_plain) {
            return Err(format!("{:?} is no variable", spec));
        }
        let key = symbols(name);
        if self.variables.iter().any(|variable| variable.key == key) {
            return Err(format!("variable {:?} appears twice", name));
        }
        let limit = match limit.map(str::parse) {
            None => usize::MAX,
            Some(Ok(limit @ 1..=9999)) => limit,
            _ => return Err(format!("the prefix length of {:?} is not from 1 to 9999", name)),
        };
        let explode = name.len() < spec.len();
        let (part, list, ascii) = (self.parts.len(), None, String::new());
        self.variables.push(Variable { name, key, part, limit, explode, list, ascii });
        Ok(())
    }

    /// Says what each value may hold, which depends on what stands later in the template.
    fn classify(&mut self) {
        let (mut query, mut fragment) = (false, false);
        for part in self.parts.iter().rev() {
            match part {
                Part::Literal(literal) => {
                    query |= literal.contains(&'?'.into());
                    fragment |= literal.contains(&'#'.into());
                }
                Part::Expression(expression) => {
                    for variable in &mut self.variables[expression.variables.clone()] {
                        expression.classify(variable, query, fragment);
                    }
                    query |= expression.marker == Some('?');
                    fragment |= expression.marker == Some('#');
                }
            }
        }
    }

    /// Orders templates: the least one is the most specific. It has what stands at each position, where a character of
    /// a literal comes before the end, that before an expression that stops at reserved characters, that before one
    /// with a list, and that before `{+…}` and `{#…}`.
    pub(super) fn specificity(&self) -> (Vec<u8>, usize, &'a str) {
        const END: u8 = 1;
        let mut shape = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => shape.extend(literal.iter().map(|_| 0)),
                Part::Expression(expression) if expression.is_reserved() => shape.push(END + 3),
                Part::Expression(expression) => {
                    let lists = self.variables[expression.variables.clone()].iter().any(|variable| variable.explode);
                    shape.push(END + 1 + u8::from(lists));
                }
            }
        }
        shape.push(END);
        (shape, self.variables.len(), self.source)
    }
}

impl Expression {
    fn classify(&self, variable: &mut Variable<'_>, query: bool, fragment: bool) {
        variable.ascii = UNRESERVED.to_owned();
        if self.is_reserved() {
            variable.ascii.push_str(":/?#[]@!$&'()*+,;=");
        }
        if self.operator == Some('+') {
            variable.ascii.retain(|c| !(query && c == '?' || fragment && c == '#'));
        }
        if matches!(self.marker, Some('?' | '&')) {
            variable.ascii.push_str("/:@"); // which people write as they are
        }
        variable.list = match variable.limit == usize::MAX {
            true if self.is_named() => Some(','),
            _ if !self.is_named() && variable.explode => Some(self.separator),
            _ => None,
        };
        match variable.list {
            Some(separator) => variable.ascii.push(separator),
            None if !self.is_named() && self.variables.len() > 1 => variable.ascii.retain(|c| c != self.separator),
            None => {}
        }
    }
}
