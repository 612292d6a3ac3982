/** The environment variables of commands that look for the sessions of this machine, for their help. */
export const clientEnvironment = `Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and settings, instead of the platform's own
  TRACEBOOK_DATA_DIR    the folder for what was uploaded; default: data in TRACEBOOK_CONFIG_DIR,
                        else the platform's own
  Each agent's own variables for where it keeps its files are honoured: CLAUDE_CONFIG_DIR,
  CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME, PI_CODING_AGENT_DIR, PI_CODING_AGENT_SESSION_DIR,
  OPENCODE_DB, XDG_DATA_HOME, XDG_CONFIG_HOME, APPDATA.`
