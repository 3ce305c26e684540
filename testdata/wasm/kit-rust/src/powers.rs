//! The templates that use what a host grants.

use std::time::Duration;

use wasmres::sql::{self, Value};
use wasmres::{
    http, kv, Content, Dir, Entry, Error, Folder, Page, Provider, Request, Result, Route,
    DIRECTORY_TYPE,
};

/// Adds the templates to a provider.
pub fn add(provider: Provider) -> Provider {
    provider
        .route(Route::template("kit://fetch/{+url}", fetch))
        .route(Route::template("kit://post/{+url}", post))
        .route(Route::template("kit://rows/{query}", rows))
        .route(Route::template("kit://kv/{key}", |r| kv::get(r.var("key"))))
        .route(Route::template("kit://keep/{key}/{value}", keep))
        .route(Route::template("kit://swap/{key}/{value}", swap))
        .route(Route::template("kit://drop/{key}", |r| {
            kv::delete(r.var("key")).map(|()| "gone")
        }))
        .route(Route::template("kit://keys/{prefix}", keys))
        .route(Route::template("kit://file/{name}", |r| {
            Ok(Content::seekable(Dir::new("/kit").open(r.var("name"))?))
        }))
        .route(Route::template("kit://write/{name}/{text}", write))
        .route(Route::template("kit://remove/{name}", remove))
        .route(
            Route::template("kit://folder/{name}", folder)
                .watch(Duration::from_secs(1), |r| Ok(folder(r)?.version()?)),
        )
        .route(Route::template("kit://some/{name}", |r| {
            Ok(folder(r)?
                .max_files(3)
                .max_bytes(1000)
                .hidden()
                .mime(|name, head, text| type_of(name, head, text)))
        }))
        .route(Route::template("kit://env/{name}", |r| {
            Ok(r.env(r.var("name")))
        }))
}

fn fetch(r: &Request) -> Result<Content> {
    Ok(Content::stream(
        http::get(r.var("url"))?.error_for_status()?,
    ))
}

fn post(r: &Request) -> Result<String> {
    let response = http::Request::new("POST", r.var("url"))
        .header("X-Kit", "sent")
        .body("from the kit")
        .max_bytes(1000)
        .timeout(Duration::from_millis(1500))
        .send()?;
    let head = format!(
        "{}\n{}\n{}\n",
        response.status(),
        response.url(),
        response.header("x-kit").unwrap_or("")
    );
    Ok(head + &response.text()?)
}

fn rows(r: &Request) -> Result<String> {
    let query = sql::query("main", r.var("query"))
        .bind(Value::Null)
        .bind(true)
        .bind(-7)
        .bind(1.5)
        .bind("té")
        .bind(&[0, 255]);
    let rows = query.rows()?;
    let names: Vec<_> = rows
        .columns()
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    let mut text = names.join("|");
    for row in rows {
        let values: Vec<String> = row?.values().iter().map(written).collect();
        text += "\n";
        text += &values.join("|");
    }
    Ok(text)
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(set) => set.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{:02x}", byte)).collect(),
    }
}

fn keep(r: &Request) -> Result<String> {
    put(kv::Put::new(r.var("key"), r.var("value"))
        .if_absent()
        .ttl(Duration::from_millis(1500)))
}

fn swap(r: &Request) -> Result<String> {
    let key = r.var("key");
    let (_, entry) = kv::get_entry(key)?.ok_or_else(|| Error::not_found("nothing here"))?;
    put(kv::Put::new(key, r.var("value")).if_version(entry.version))
}

fn put(put: kv::Put) -> Result<String> {
    match put.send()? {
        Ok(entry) => Ok(format!("put {}", entry.version)),
        Err(kv::Conflict { entry: Some(entry) }) => Ok(format!("is {}", entry.version)),
        Err(conflict) => Err(conflict.into()),
    }
}

fn keys(r: &Request) -> Result<String> {
    kv::keys(r.var("prefix"))
        .map(|entry| Ok(entry?.key + "\n"))
        .collect()
}

fn write(r: &Request) -> Result<String> {
    let (dir, name) = (Dir::new("/kit"), r.var("name"));
    dir.write(name, r.var("text"))?;
    Ok(dir.append(name, "\n")?.len().to_string())
}

fn remove(r: &Request) -> Result<&'static str> {
    Dir::new("/kit").remove(r.var("name"))?;
    Ok("gone")
}

/// Lists a folder as a directory.
pub fn children(r: &Request, page: &mut Page) -> Result<()> {
    for file in Dir::new("/kit").entries(r.var("name"))? {
        let file = file?;
        let mut child = Entry::new(format!("{}/{}", r.uri(), file.name()));
        if file.is_dir() {
            child = child.mime(DIRECTORY_TYPE);
        }
        if !page.add(child) {
            break;
        }
    }
    Ok(())
}

fn folder(r: &Request) -> Result<Folder> {
    Ok(Dir::new("/kit").folder(r.var("name"), "kit://in/")?)
}

fn type_of(name: &str, head: &[u8], text: bool) -> Option<String> {
    match text && name.ends_with(".kit") {
        true => Some("text/x-kit".to_owned()),
        false => head.starts_with(b"KIT").then(|| "image/x-kit".to_owned()),
    }
}
