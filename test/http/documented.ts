import type { createApp } from "../../src/http/index.ts";

type App = ReturnType<typeof createApp>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Readonly<Record<string, Response>> }>>>>;
}
interface Response {
  readonly content?: Readonly<Record<string, object>>;
}

/** What servers answered, as `METHOD /route STATUS type`. */
export class Answers {
  readonly #seen = new Set<string>();

  /** Notes every answer of an app that has answered nothing yet. */
  watch(app: App): App {
    app.addHook("onResponse", async (request, reply) => {
      const { url } = request.routeOptions;
      // Unknown paths and hidden routes stand in no document.
      if (url === undefined || /^\/(docs|openapi)/.test(url)) return;
      const method = request.method === "HEAD" ? "GET" : request.method;
      const type = String(reply.getHeader("content-type") ?? "").split(";")[0];
      this.#seen.add([method.toLowerCase(), url.replace(/:(\w+)/g, "{$1}"), reply.statusCode, type].join(" "));
    });
    return app;
  }

  get count(): number {
    return this.#seen.size;
  }

  /** Answers of a status or a type that the document does not have. */
  undocumented(document: Document): string[] {
    return [...this.#seen].filter((answer) => {
      const [method = "", path = "", status = "", type = ""] = answer.split(" ");
      const response = document.paths[path]?.[method]?.responses[status];
      return response === undefined || (type !== "" && response.content?.[type] === undefined);
    });
  }
}
