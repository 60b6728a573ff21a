import {
  load,
  type McpClient,
  type McpConnection,
  type ProtocolResult,
  toReply,
} from './client.ts';
import { faultsOf, openGemini } from './gemini.ts';

/** Libraries that connect a language model with the tools of a server. */
export const modelClients: readonly McpClient[] = [
  { name: '@ai-sdk/mcp with @ai-sdk/google', connect: connectAiSdk },
  { name: '@langchain/mcp-adapters', connect: connectLangChain },
  { name: '@openai/agents', connect: connectOpenAiAgents },
];

interface AiSdkTool {
  execute(args: object, options: object): Promise<ProtocolResult>;
}

async function connectAiSdk(url: string): Promise<McpConnection> {
  const { createMCPClient } = await load('@ai-sdk/mcp');
  const client = await createMCPClient({ transport: { type: 'http', url } });
  const tools: Readonly<Record<string, AiSdkTool>> = await client.tools();
  return {
    listTools: async () => Object.keys(tools),
    call: async (name, args) => {
      const result = await tools[name]?.execute(args, { toolCallId: 'call', messages: [] });
      return toReply(result ?? { content: [] });
    },
    more: { 'gives the tools to a Gemini model': () => checkGemini(tools) },
    close: () => client.close(),
  };
}

/** Lets a model of the Gemini API, which is replaced by a server, call a tool. Checks what the model receives. */
async function checkGemini(tools: object): Promise<void> {
  const { generateText, stepCountIs } = await load('ai');
  const { createGoogleGenerativeAI } = await load('@ai-sdk/google');
  const args = { handle: 'ada.example', limit: 2, cursor: '', until: '' };
  const gemini = await openGemini({ name: 'get_profile', args });
  try {
    const google = createGoogleGenerativeAI({ baseURL: gemini.baseUrl, apiKey: 'none' });
    const model = google('gemini-2.5-flash');
    const stopWhen = stepCountIs(2);
    await generateText({ model, tools, stopWhen, prompt: 'Who is ada.example?', maxRetries: 0 });
  } finally {
    gemini.close();
  }
  const [first, second] = gemini.requests;
  const declared = first?.tools[0]?.functionDeclarations ?? [];
  const faults = declared.flatMap(({ name, parameters }) => faultsOf(parameters, name));
  if (faults.length > 0) throw new Error(`The Gemini API refuses: ${faults.join('; ')}.`);
  const names = declared.map(({ name }) => name).join();
  if (names !== Object.keys(tools).join()) throw new Error(`The model is told of: ${names}.`);
  const told = JSON.stringify(second?.contents.at(-1));
  if (!told.includes('functionResponse') || !told.includes('# Ada Fenwick (@ada.example)')) {
    throw new Error(`The model does not receive the profile: ${told.slice(0, 200)}`);
  }
}

interface LangChainTool {
  readonly name: string;
  invoke(args: object): Promise<string | { readonly type: string; readonly text?: string }>;
}

async function connectLangChain(url: string): Promise<McpConnection> {
  const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
  const client = new MultiServerMCPClient({ mcpServers: { perch: { transport: 'http', url } } });
  const tools: readonly LangChainTool[] = await client.getTools();
  return {
    listTools: async () => tools.map(({ name }) => name),
    call: async (name, args) => {
      try {
        const result = await tools.find((tool) => tool.name === name)?.invoke(args);
        if (typeof result === 'string') return { text: result, isError: false };
        return toReply({ content: result === undefined ? [] : [result] });
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'ToolException') throw error;
        return { text: error.message, isError: true };
      }
    },
    close: () => client.close(),
  };
}

/** Function tool of `@openai/agents`, as it is declared to a model of OpenAI. */
interface AgentTool {
  readonly name: string;
  readonly strict: boolean;
  readonly parameters: { readonly required?: readonly string[] };
  invoke(context: unknown, args: string): Promise<ProtocolResult['content'][number]>;
}

async function connectOpenAiAgents(url: string): Promise<McpConnection> {
  const agents = await load('@openai/agents');
  agents.setTracingDisabled(true); // it would send the calls to OpenAI
  const server = new agents.MCPServerStreamableHttp({ url, name: 'perch' });
  await server.connect();
  const runContext = new agents.RunContext();
  const listFunctions = (convertSchemasToStrict: boolean): Promise<readonly AgentTool[]> =>
    agents.getAllMcpTools({
      mcpServers: [server],
      agent: new agents.Agent({ name: 'perch' }),
      runContext,
      convertSchemasToStrict,
    });
  const tools = await listFunctions(false);
  return {
    listTools: async () => tools.map(({ name }) => name),
    call: async (name, args) => {
      const tool = tools.find((one) => one.name === name);
      const block = await tool?.invoke(runContext, JSON.stringify(args));
      const { text } = toReply({ content: block === undefined ? [] : [block] });
      return { text, isError: text.includes('\ncode: ') };
    },
    more: {
      'gives the tools to a model in strict mode, which sends null for what it leaves out':
        async () => {
          for (const tool of await listFunctions(true)) await checkStrict(tool, runContext);
        },
    },
    close: () => server.close(),
  };
}

/** Values of the arguments that are required, or that make a call succeed. */
const given: Readonly<Record<string, unknown>> = {
  handle: 'ada.example',
  id: '1900000000000000001',
  q: 'heron',
  platform: 'sample',
};

async function checkStrict(tool: AgentTool, context: unknown): Promise<void> {
  if (!tool.strict) throw new Error(`The schema of ${tool.name} cannot be strict.`);
  const names = tool.parameters.required ?? [];
  const args = Object.fromEntries(names.map((name) => [name, given[name] ?? null]));
  const { text = '' } = await tool.invoke(context, JSON.stringify(args));
  if (!text.startsWith('# ')) throw new Error(`${tool.name} returns ${text.slice(0, 200)}`);
}
