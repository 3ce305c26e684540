import * as abi from "./abi";
import { HTTPField, HTTPResponse } from "./response";
import * as service from "./service";
import { utf8 } from "./text";

/** Gets what a URL leads to: see `HTTPRequest.send`. */
export function fetch(url: string): HTTPResponse { return new HTTPRequest(url).send(); }

/**
 * An HTTPRequest asks a server for something, by a URL the operator granted. Its methods return it, so that they chain:
 *
 *     const answer = new HTTPRequest(url, "POST").header("Accept", "text/plain").text("a question").send();
 */
export class HTTPRequest {
  private fields: HTTPField[] = [];
  private content: Uint8Array | null = null;
  private most: i64 = 0;
  private time: i64 = 0;

  /** `url` is absolute, http or https; `method` is in capitals. */
  constructor(private url: string, private method: string = "GET") {}

  /**
   * Adds a field to the header. It is sent as it is, but for `{{secret:NAME}}` in the value: there the host fills a
   * secret in that the operator granted for the server, and takes it out of what comes back.
   */
  header(name: string, value: string): this {
    this.fields.push(new HTTPField(name, value));
    return this;
  }

  /** Sets the body. It must not change before `send`. */
  body(bytes: Uint8Array): this {
    this.content = bytes;
    return this;
  }

  /** Sets the body to a text, as UTF-8. */
  text(body: string): this { return this.body(utf8(body)); }

  /** Sets how many bytes the body of the answer may have; 0 for as many as are granted. */
  maxBytes(count: i64): this {
    this.most = max<i64>(count, 0);
    return this;
  }

  /** Sets how many milliseconds all of it may take, reading the answer included; 0 for as many as are granted. */
  timeout(ms: i64): this {
    this.time = max<i64>(ms, 0);
    return this;
  }

  /**
   * Sends the request and gives the answer, after redirects. It needs the power `http`: see `Provider.ask`. Whether
   * there is an answer, and whether the server said that the request was successful, is in `HTTPResponse.failure`.
   */
  send(): HTTPResponse {
    const body = this.content;
    if (body !== null && <u32>body.length > abi.MAX_SERVICE) return new HTTPResponse(abi.CODE_TOO_LARGE);
    const request = service.request().text(1, this.method).text(2, this.url);
    for (let i = 0; i < this.fields.length; i++) {
      const field = request.begin(3);
      request.text(1, this.fields[i].name).text(2, this.fields[i].value).end(field);
    }
    if (body !== null && body.length > 0) request.blob(4, body.dataStart, body.length);
    request.number(5, this.most).number(6, min<i64>(this.time, u32.MAX_VALUE));
    return new HTTPResponse(service.call(abi.SERVICE_HTTP));
  }
}
