export { seven } from "./seven.js";
