/** How a trace is named, for the help of all commands that take one. */
export const idHelp = `The trace is named by its id, by the beginning of an id that no other of the namespace has (four
characters or more), or by a link to it.`
