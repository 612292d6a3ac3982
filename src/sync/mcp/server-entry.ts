/** How an agent starts the server of `tracebook mcp`. */
export type ServerEntry = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The name of the server in the settings of agents. */
export const SERVER_NAME = 'tracebook'
