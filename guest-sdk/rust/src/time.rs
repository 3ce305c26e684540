//! Times as the ABI writes them.

use std::time::{Duration, SystemTime};

/// Gives a time in milliseconds, rounded up.
pub(crate) fn millis(duration: Duration) -> u64 {
    let nanos = duration.subsec_nanos();
    let part = u64::from(nanos / 1_000_000) + u64::from(nanos % 1_000_000 > 0);
    duration.as_secs().saturating_mul(1000).saturating_add(part)
}

/// Gives the time so many milliseconds after 1970-01-01 UTC, or before it; that itself for what cannot be told.
pub(crate) fn from_millis(millis: i64) -> SystemTime {
    let duration = Duration::from_millis(millis.unsigned_abs());
    let time = match millis {
        0.. => SystemTime::UNIX_EPOCH.checked_add(duration),
        _ => SystemTime::UNIX_EPOCH.checked_sub(duration),
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Gives a time as RFC 3339 has it, to the second; nothing when it is outside of the years 0 to 9999.
pub(crate) fn stamp(time: SystemTime) -> String {
    let seconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            -seconds.saturating_add((before.subsec_nanos() > 0).into())
        }
    };
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(day);
    if !(0..=9999).contains(&year) {
        return String::new();
    }
    let mut text = String::with_capacity(20);
    digits(&mut text, year / 100);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    for (number, end) in [(year % 100, '-'), (month, '-'), (day, 'T'), (hour, ':'), (minute, ':'), (second, 'Z')] {
        digits(&mut text, number);
        text.push(end);
    }
    text
}

fn digits(text: &mut String, number: i64) {
    for digit in [number / 10, number % 10] {
        text.push((b'0' + digit as u8) as char);
    }
}

/// Gives year, month and day of a day counted from 1970-01-01, in the Gregorian calendar. It counts in years that begin
/// in March, so that the day which is seldom is the last one.
fn date(day: i64) -> (i64, i64, i64) {
    const FOUR_CENTURIES: i64 = 146_097; // days
    let day = day + 719_468; // since 0000-03-01
    let (era, day) = (day.div_euclid(FOUR_CENTURIES), day.rem_euclid(FOUR_CENTURIES));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_rfc_3339() {
        for (millis, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (1, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399_000, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_077_926_400_000, "2004-02-28T00:00:00Z"),
            (1_795_082_400_000, "2026-11-19T10:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
            (-62_167_219_200_001, ""),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"),
            (253_402_300_800_000, ""),
        ] {
            assert_eq!(stamp(from_millis(millis)), want, "{}", millis);
        }
    }

    #[test]
    fn millis_are_rounded_up() {
        for (nanos, want) in [(0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (1_500_000_000, 1500)] {
            assert_eq!(millis(Duration::from_nanos(nanos)), want);
        }
        assert_eq!(millis(Duration::MAX), u64::MAX);
    }
}
