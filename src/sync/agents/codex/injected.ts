/** How the texts begin that the CLI puts into messages of the user (README, rule 3). */
const INJECTED = [
  '# AGENTS.md',
  '<environment_context>',
  '<INSTRUCTIONS>',
  '<user_instructions>',
  '<skill>',
  '<turn_aborted>',
  '<subagent_notification>',
  '<goal_context>',
  '<codex_internal_context',
]

/** Whether the CLI, and not the user, wrote a text block of a message of the user. */
export const isInjected = (text: string): boolean => {
  const start = text.trimStart()
  return INJECTED.some((prefix) => start.startsWith(prefix))
}
