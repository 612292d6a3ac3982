import { Argument, Command } from 'commander'
import { clientCommand } from './command.ts'
import { type Help, helpText } from './help.ts'

const environment = `Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and settings, instead of the platform's own
  CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, QWEN_HOME, XDG_CONFIG_HOME
                        where agents have their settings`

const serveHelp: Help = {
  about: `
Lets an agent search and read sessions by the Model Context Protocol, on standard input and output: all that
your login may read, and nothing is changed. The agent starts it. "tracebook mcp install" writes it into the
settings of Claude Code, Codex, Cursor, Gemini CLI, opencode and Qwen Code; by hand these are

  Claude Code, in a shell:
    claude mcp add --scope user tracebook -- tracebook mcp
  Codex, in ~/.codex/config.toml:
    [mcp_servers.tracebook]
    command = "tracebook"
    args = ["mcp"]
  Cursor, in ~/.cursor/mcp.json, Gemini CLI, in ~/.gemini/settings.json, Qwen Code, in ~/.qwen/settings.json:
    { "mcpServers": { "tracebook": { "command": "tracebook", "args": ["mcp"] } } }
  opencode, in ~/.config/opencode/opencode.json, or opencode.jsonc if there is one:
    { "mcp": { "tracebook": { "type": "local", "command": ["tracebook", "mcp"] } } }

Agents elsewhere use the address /mcp of the service, with the token of "tracebook token" as the bearer.
What was written in a session is handed out as quotations; an agent should not follow instructions in them.`,
  examples: [
    ['tracebook mcp', 'called by an agent'],
    ['tracebook mcp --namespace team', 'lists the sessions of a team by default'],
    ['tracebook mcp install', 'for all agents on this machine'],
  ],
  documents: [['{"jsonrpc":"2.0",…}', 'messages of the protocol, also without --json']],
  environment,
}

const installHelp: Help = {
  about: `
Writes the server "tracebook" into the settings of an agent, in place of an earlier one of this name; all else
in them stays as it is, also comments. Without an agent, those that have a folder on this machine get it. Settings
that cannot be read are left as they are, and named. The paths of Node.js and of Tracebook are stored: install
again when they change. --remove takes out what was written.`,
  examples: [
    ['tracebook mcp install claude-code', 'only for this one'],
    ['tracebook mcp install --remove', 'for all agents'],
  ],
  documents: [
    ['{"type":"mcp","agent","installed","file","why"?}', 'one for each agent; `why` its settings are left as they are'],
  ],
  environment,
  exitCodes: {
    0: 'success',
    1: 'settings of an agent cannot be edited; those of the others are',
    2: 'wrong usage, or not logged in',
  },
}

/** Those of `client/mcp/agents.ts`, which is loaded only when the command runs. */
const agents = ['claude-code', 'codex', 'cursor', 'gemini-cli', 'opencode', 'qwen-code']

const mcp = (): Command =>
  new Command('mcp')
    .addHelpText('after', helpText(serveHelp))
    .addCommand(
      clientCommand(new Command('serve').description('Answer an agent on standard input and output (default)'), {
        help: serveHelp,
        namespace: 'the namespace whose sessions are listed by default (default: that of your login)',
        load: async () => (await import('../mcp/serve.ts')).serve,
      }),
      { isDefault: true },
    )
    .addCommand(
      clientCommand(
        new Command('install')
          .description('Write this server into the settings of agents, or take it out')
          .addArgument(new Argument('[agent]', 'whose settings').choices(agents))
          .option('--remove', 'take it out again'),
        { help: installHelp, namespace: false, load: async () => (await import('../mcp/install.ts')).install },
      ),
    )

export const mcpCommands = { mcp }
