export {
  type Client,
  ClientError,
  type ClientOptions,
  type CompileAnswer,
  createClient,
  type RemoteAnswer,
} from "./client.ts";
