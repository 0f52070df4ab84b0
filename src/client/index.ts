export {
  type Client,
  ClientError,
  type ClientOptions,
  type CompileAnswer,
  createClient,
  type RemoteAnswer,
  recordOf,
} from "./client.ts";
