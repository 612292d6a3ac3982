import { type Html, markup, none } from './markup.ts'

/** Addresses of this service, which the page of a session links to. An exported file has none. */
export type Links = {
  /** The page at a message, by its externalId. The browser goes to the message: it has the focus. */
  message(id: string): string
  /** A message with nothing folded. */
  whole(id: string): string
  /** The text of one part of a message, without any markup. */
  text(id: string, part: number): string
  /** Where it says how the session goes on from a message, and that as a word of a shell; undefined for a session that no agent can go on with. */
  goOn(id: string): GoOn | undefined
  /** The session of the sub-agent that a call has started; undefined if it is not known. */
  child(callId: string): Child | undefined
}

export type GoOn = { readonly href: string; readonly word: string }

export type Child = { readonly path: string; readonly title: string; readonly facts: Html }

/** How messages are shown. */
export type Showing = {
  /** Undefined for a file that has to be complete by itself: nothing is folded, and only places in the file are linked. */
  readonly links: Links | undefined
  /** Whether everything is shown in full length. Default: only in a file. */
  readonly isWhole?: boolean
  readonly view?: View
  /** The externalId of the message that a link leads to. */
  readonly here?: string | undefined
  /** Who wrote the prompts, if that is known. */
  readonly author?: string | undefined
  /** The folder of the session: paths in it are shown without it. */
  readonly folder?: string | undefined
  /** The model of the trace, and its name, which is shown for messages of it. */
  readonly model?: { readonly id: string | undefined; readonly name: string | undefined }
}

/** All, prompts and answers only, or prompts and calls of tools only. */
export const views = ['full', 'talk', 'tools'] as const
export type View = (typeof views)[number]

/** The attribute of a part that opens and closes: of a message that is shown in full length, all are open. */
export const openIf = (isOpen: boolean, { isWhole }: Showing): Html =>
  isOpen || isWhole === true ? markup` open` : none

/** Whether text may be folded. */
export const folds = ({ links, isWhole }: Showing): boolean => links !== undefined && isWhole !== true
