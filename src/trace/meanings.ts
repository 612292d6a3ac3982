/**
 * What the members of messages mean, and of traces those that are no texts (`fields.ts`), as the reference says it of what is
 * sent and of what is answered.
 */

export const traceMeanings = {
  externalId: {
    description: 'The id that the client has chosen for the trace, unique in its namespace; 1 to 1,024 characters',
    examples: ['my-first-session'],
  },
} as const

export const messageMeanings = {
  externalId: {
    description: 'The id that the client has chosen for the message, unique in its trace; 1 to 1,024 characters',
    examples: ['message-1'],
  },
  textContent: { description: 'The text of the message as a whole', examples: ['Why does the login page fail?'] },
  model: { description: 'The model that wrote the message', examples: ['gpt-5'] },
  order: {
    description: 'The place of the message in its trace: lists are sorted by it, messages without one come last',
    examples: [1],
  },
  timestamp: {
    description: 'When the message was written, as the client says: in milliseconds since 1970',
    examples: [1_767_366_245_000],
  },
} as const
