import "./abort"; // for `use` in asconfig.json
export { bytes, Content, Contents, contents, notModified, stream, text } from "./content";
export { Audience, Entry, Icon } from "./entry";
export { Code, denied, Failure, internal, invalid, notFound, Reply, unavailable } from "./failure";
export { Dir, File, FileInfo } from "./files";
export { log } from "./log";
export { ListHandler, Page } from "./page";
export { Capability, Provider, provider } from "./provider";
export { wasmres_v1_seed } from "./random";
export { Principal, Request } from "./request";
export { CompleteHandler, ReadHandler, Route, VersionHandler } from "./route";
export { wasmres_v1 } from "./serve";
export { notifyListChanged, notifyUpdated } from "./service";
export { Source, Writer } from "./source";
export { now, timeLeft } from "./time";
