//! Days, and the names of their files.

use std::fmt;
use std::str::FromStr;

const PREFIX: &str = "app-";
const SUFFIX: &str = ".log";

/// A day of the Gregorian calendar, written as 2026-11-22.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(String);

impl Day {
    /// Gives the day that a file is of, if it is a log.
    pub fn of_file(name: &str) -> Option<Self> {
        name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
    }

    /// Gives the name of its file.
    pub fn file(&self) -> String {
        [PREFIX, &self.0, SUFFIX].concat()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text is no day.
#[derive(Debug)]
pub struct NoDay;

impl FromStr for Day {
    type Err = NoDay;

    /// Takes four digits, two and two, with hyphens, of a day that there is, and nothing else.
    fn from_str(text: &str) -> Result<Self, NoDay> {
        let parts: Vec<&str> = text.split('-').collect();
        let (year, month, day) = match parts[..] {
            [year, month, day] => (number(year, 4)?, number(month, 2)?, number(day, 2)?),
            _ => return Err(NoDay),
        };
        if !(1..=days(year, month)).contains(&day) {
            return Err(NoDay);
        }
        Ok(Day(text.to_owned()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn number(text: &str, digits: usize) -> Result<u32, NoDay> {
    if text.len() != digits || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoDay);
    }
    text.parse().map_err(|_| NoDay)
}

/// Gives how many days a month has; none when there is no such month.
fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_strict() {
        for day in ["2026-11-22", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "2026-04-30"] {
            assert_eq!(day.parse::<Day>().unwrap().file(), format!("app-{day}.log"));
        }
        for text in [
            "",
            "-",
            "2026",
            "2026-11",
            "2026-11-2",
            "2026-11-222",
            "26-11-22",
            "2026-1-22",
            "2026-11-22-",
            "-2026-11-22",
            "2026-11-22T",
            " 2026-11-22",
            "2026-11-22 ",
            "2026/11/22",
            "2026-11-00",
            "2026-00-22",
            "2026-13-22",
            "2026-11-31",
            "2026-02-29",
            "1900-02-29",
            "2026-02-30",
            "+026-11-22",
            "2026-+1-22",
            "2026-11-2२",
            "２026-11-22",
            "../2026-11-22",
            "2026-11-22.log",
            "today",
        ] {
            assert!(text.parse::<Day>().is_err(), "{text:?} is a day");
        }
    }

    #[test]
    fn files_are_known_by_their_names() {
        assert_eq!(Day::of_file("app-2026-11-22.log").unwrap().as_str(), "2026-11-22");
        for name in
            ["app-.log", "app-2026-11-22", "2026-11-22.log", "app-2026-11-22.log.gz", "app-2026-11-31.log", "app.log"]
        {
            assert!(Day::of_file(name).is_none(), "{name}");
        }
    }
}
