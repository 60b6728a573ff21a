/** Text that a model reads of the result of a tool call. */
export interface ToolReply {
  readonly text: string;
  readonly isError: boolean;
}

/** Connection of a published MCP client to a server. */
export interface McpConnection {
  /** Returns the names of the tools that the client offers to a model. */
  listTools(): Promise<readonly string[]>;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolReply>;
  /** Checks of this client only, by name. */
  readonly more?: Readonly<Record<string, () => Promise<void>>>;
  close(): Promise<void>;
}

/** Published MCP client: the packages that contain it, and a function that connects it to the URL of a server. */
export interface McpClient {
  readonly name: string;
  connect(url: string): Promise<McpConnection>;
}

/**
 * Imports an installed package. The name is not a literal, because the types of these packages are not installed in
 * this project.
 */
export const load = (name: string) => import(name);

/** Text blocks of a tool result, as the protocol has them. */
export interface ProtocolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}

/** Returns the reply in a tool result, which must have one text. @throws Error for other results */
export function toReply({ content, isError = false }: ProtocolResult): ToolReply {
  const [block, ...others] = content;
  if (block?.type !== 'text' || block.text === undefined || others.length > 0) {
    throw new Error(`The result has not one text: ${JSON.stringify(content).slice(0, 200)}`);
  }
  return { text: block.text, isError };
}
