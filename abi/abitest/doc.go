// Package abitest is the conformance kit that a guest SDK, in any language, must pass.
//
// It owns [Run], which asks a guest everything the ABI can ask, and [Exchange], the host's side of one operation without
// an engine. Tests of guests import it; it imports nothing of wasmres but package abi. It never judges speed.
//
// # The kit's provider
//
// The guest under test is a module built with the SDK that behaves as follows. Whatever is not said here is free: names,
// titles, whether contents are inline or pushed, the size of chunks, the order in the manifest.
//
// DESCRIBE emits a manifest named "kit" whose ops are at least DESCRIBE, LIST, READ, COMPLETE, SUBSCRIBE, POLL and LISTDIR, and
// whose templates are these, with READ answering:
//
//	kit://echo/{value}   a text/plain of the value; COMPLETE knows alpha, beta and bravo for it
//	kit://join{/part*}   a text of all parts with "|" between them
//	kit://fail/{code}    fails with this code, 1 to 9, and the message "failed as asked"; with 4 (unavailable) also
//	                     retry_after_ms 1500
//	kit://stream/{n}     a blob of n bytes, of which byte i is i&0xff, pushed with body when n is over 100,000. If the
//	                     template says ranges, READ honours them and says range_total. 16 MiB of linear memory do for
//	                     64 MiB
//	kit://many/{i}       a text of the number i, for 1 to 25; other numbers are not_found
//	kit://config/{key}   a text of the value service 1 answers for key; not_found when the service refuses
//
// These URIs match none of the templates. The manifest may list them as static resources.
//
//	kit://text           the text/plain of [Text]; its etag is "v1" with the quotation marks, and READ with that
//	                     if_none_match answers not_modified
//	kit://blob           256 bytes 0 to 255, application/octet-stream
//	kit://empty          a text of no bytes
//	kit://several        a text "one" of kit://several/1, then a blob of the byte 2 of kit://several/2
//	kit://principal      a text: subject, a slash, tenant; "nobody" when there is no principal
//	kit://missing        not_found, with the message "nothing here"; any other URI is not_found too
//
// LIST gives kit://many/1 to kit://many/25 in order, with no entry more than limit on a page; with limit 0 a page is as
// the guest likes. A cursor it did not make is invalid_params.
//
// LISTDIR of kit://many gives kit://many/1 to kit://many/25, and then kit://many/none, which is a directory, in pages as
// those of LIST. LISTDIR of kit://many/none gives an empty page. LISTDIR of a URI of kit://folder/{name} gives the files and
// folders in /kit/NAME, of which folders are directories and files have no type. Any other URI is not_found, with the message
// "nothing here".
//
// COMPLETE for the variable value of kit://echo/{value} gives those of alpha, beta and bravo that begin with what was
// typed, in this order.
//
// SUBSCRIBE to kit://text answers poll_ms 1000. POLL of kit://text answers one content with the etag and no body,
// not_modified when if_none_match is that etag.
//
// An operation that is not in the manifest's ops is answered with unsupported.
//
// # Its capabilities
//
// These templates use what a host grants. An error of the host is the error of READ, with its code. Answers that are
// malformed, or contradict themselves, are errors of any code. Numbers of streams and versions have all their 64 bits. A
// newline at the end of the texts of post and rows is free.
//
//	kit://fetch/{+url}        a blob of what GET of the URL answers, passed on part by part. A status that is no success
//	                          is an error: 404 and 410 not_found, 401 and 403 denied, 408, 429 and those from 500 on
//	                          unavailable, with the seconds of Retry-After in retry_after_ms, and others internal
//	kit://post/{+url}         a text of four lines: the status, the URL that answered, the first field x-kit of the
//	                          header, and the body. It is POST with the field "X-Kit: sent", the body "from the kit",
//	                          max_bytes 1000 and timeout_ms 1500; the status is no error
//	kit://rows/{query}        a text of what the connection main answers to the query, with the arguments null, true,
//	                          -7, 1.5, "té" and the bytes 0 and 255: a line of the columns' names, then one for each
//	                          row, with "|" between. Values are null, true, false, numbers in decimals, texts as they
//	                          are, and bytes in hexadecimal
//	kit://kv/{key}            a blob of the value of the key
//	kit://keep/{key}/{value}  puts the value where there is none, for 1500 ms: a text "put N", with the version N, or
//	                          "is N" when there is one already
//	kit://swap/{key}/{value}  gets the entry of the key, and puts the value, to stay, if that is still there: a text as
//	                          that of keep
//	kit://drop/{key}          deletes the key: a text "gone"
//	kit://keys/{prefix}       a text of the keys that begin with prefix, of all pages, each ended by a newline
//	kit://file/{name}         a blob of the file /kit/NAME, passed on part by part; a folder is invalid_params
//	kit://write/{name}/{text} puts the text into the file /kit/NAME, at once, and then a newline at its end: a text of
//	                          the bytes it has then, as the host says
//	kit://remove/{name}       removes the file /kit/NAME: a text "gone"
//	kit://folder/{name}       the files of the folder /kit/NAME, as the SDK answers with a folder when nothing more is said.
//	                          The URI of a file is kit://in/ and its path below /kit. SUBSCRIBE answers poll_ms 1000, and
//	                          POLL the SDK's version of the folder
//	kit://some/{name}         the same, but at most 3 files of 1000 bytes together, with hidden ones. The type is text/x-kit
//	                          for texts whose names end in .kit, and image/x-kit for what begins with KIT
//	kit://env/{name}          a text of the environment variable; not_found when it is not there
package abitest
