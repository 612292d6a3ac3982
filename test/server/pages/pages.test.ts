import fc from 'fast-check'
import type { FastifyReply } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { prepareScripts } from '../../../src/server/pages/assets.ts'
import type { FeedTrace } from '../../../src/contract/feed.ts'
import { errorPage } from '../../../src/server/pages/errors.ts'
import { feedPage, homePage } from '../../../src/server/pages/feed.ts'
import { helpPage } from '../../../src/server/pages/help.ts'
import { insightsPage } from '../../../src/server/pages/insights.ts'
import { membersPage, removalPage } from '../../../src/server/pages/members.ts'
import type { FilterView } from '../../../src/server/pages/list-filter.ts'
import { namespacePage } from '../../../src/server/pages/namespace.ts'
import { namespaceSettingsPage, retentionPage } from '../../../src/server/pages/namespace-settings.ts'
import { newNamespacePage } from '../../../src/server/pages/new-namespace.ts'
import { searchPage } from '../../../src/server/pages/search.ts'
import { invitePage, refusedInvitePage, unknownInvitePage } from '../../../src/server/pages/invite.ts'
import { browserLinkPage, settingsPage } from '../../../src/server/pages/settings.ts'
import { type Page, sendPage } from '../../../src/server/pages/page.ts'
import {
  browserPage,
  codePage,
  confirmationPage,
  deniedPage,
  joinProblemPage,
  knownPage,
  needsInvitePage,
  problemPage,
  signInPage,
} from '../../../src/server/pages/sign-in.ts'
import { evidencePage } from '../../../src/server/pages/trace-evidence.ts'
import { traceTimelinePage } from '../../../src/server/pages/trace-timeline.ts'
import { deletePage, renamePage, visibilityPage } from '../../../src/server/pages/trace-actions.ts'
import { exactly, markup } from '../../../src/transcript/html/markup.ts'
import { timelinePage } from '../../../src/server/pages/timeline.ts'
import { visible, visibleLine } from '../../../src/transcript/visible.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'
import { hostileText } from '../../transcript/support/hostile.ts'

const test = suite('pages')

/** What `sendPage` sends. */
const sent = (page: Page) => {
  let body = ''
  let headers: Record<string, string> = {}
  const reply = {
    request: { caller: undefined, headers: {}, url: '/' },
    headers: (more: Record<string, string>) => ((headers = { ...headers, ...more }), reply),
    type: (type: string) => ((headers = { ...headers, 'content-type': type }), reply),
    send: (source: string) => ((body = source), reply),
  }
  sendPage(reply as unknown as FastifyReply, page)
  return { headers, body }
}

/** Every page with words in each place that takes text. */
const pagesOf = (words: string): Readonly<Record<string, Page>> => {
  const named = { user: { id: words, displayName: words, createdAt: 0 }, namespaceSlug: words } as const
  const namespace = { id: words, slug: words, displayName: words }
  const trace: FeedTrace = {
    ...{
      id: words,
      externalId: words,
      agentId: words,
      title: words,
      model: words,
      projectName: words,
      gitBranch: words,
    },
    ...{ visibility: 'public', createdAt: 0, namespace, author: named.user },
  }
  const shownTrace = { slug: words, externalId: words, title: visibleLine(words) }
  const team = { ...namespace, type: 'org', role: 'admin' } as const
  const member = { user: named.user, role: 'admin', joinedAt: 0, inviter: named.user } as const
  const invite = {
    ...({ code: words, namespaceId: words, invitedBy: words, inviter: named.user, role: 'member' } as const),
    ...{ createdAt: 0, expiresAt: 0, useCount: 0 },
  } as const
  const snippet = { text: words, marks: [[2, 4] as [number, number]] }
  const sums = {
    traces: 1,
    messages: 2,
    usage: { inputTokens: 3 },
    cost: { usd: 1, of: 'prices' as const, unpriced: [words] },
  }
  const session = {
    id: words,
    userId: words,
    identityId: words,
    deviceName: words,
    createdAt: 0,
    lastUsedAt: 0,
    current: true,
  }
  const identity = { id: words, type: 'codehost', name: words } as const
  const viewer = { user: undefined, isKnown: true, theme: undefined, hasKeys: true, path: words }
  const question = { state: words, confirmation: words, action: words, redirectTo: 'http://127.0.0.1:1/' }
  const review = { account: { login: words }, deviceName: words }
  const invited = {
    code: words,
    invite: { namespace, role: 'admin', expiresAt: 0, state: 'pending' },
    ...{ invitedBy: words, isForAddress: true, isSignedIn: true },
  } as const
  const other = { label: words, q: words }
  const filter: FilterView = {
    live: { of: 'members', slug: words, author: words, now: 0 },
    ...{
      path: '/',
      params: { scope: words },
      q: words,
      sort: 'updated',
      zone: words,
      isFiltered: true,
      lookedAt: 5_000,
    },
    ...{ fields: [other], suggestions: [other], narrower: [{ name: 'Project', values: [{ ...other, count: 1 }] }] },
    leftOut: [{ text: words, why: words, instead: other }],
    unknown: [{ label: words, meant: [other] }],
  }
  return {
    home: homePage({ list: { traces: [trace] }, filter, now: 0, service: words, origin: words }),
    feed: feedPage({
      list: { traces: [trace], nextCursor: words },
      filter,
      scope: 'own',
      active: { slug: words, type: 'org' },
      namespaces: [{ slug: words, type: 'org' }],
      ...{ now: 0, service: words },
    }),
    'a feed of nothing': feedPage({
      list: { traces: [] },
      filter,
      scope: 'public',
      active: undefined,
      namespaces: [],
      ...{ now: 0, service: words },
    }),
    namespace: namespacePage({
      namespace: { ...namespace, type: 'org', role: 'admin', description: words },
      list: { traces: [trace] },
      filter,
      week: [{ ...other, count: 1 }],
      hasLeft: true,
      ...{ now: 0, service: words },
    }),
    members: membersPage({
      ...{ namespace: team, own: member, others: [member], isFirst: true, next: words, origin: words, now: 0 },
      ...{ count: { members: 2, admins: 1 }, saved: words, problem: words },
      invites: [
        { ...invite, state: 'pending', email: words, code: 'a1B2c3D4e' },
        { ...invite, state: 'revoked' },
      ],
      draft: { role: 'admin', email: words, maxUses: words, wrong: { email: words, maxUses: words } },
    }),
    'a new namespace': newNamespacePage({
      displayName: words,
      slug: words,
      wrong: { displayName: words, slug: words },
    }),
    'settings of a namespace': namespaceSettingsPage({
      ...{ namespace: { ...team, description: words, retentionDays: 30 }, saved: words, mostBytes: 1, now: 0 },
      outlook: { days: 30, due: 2, isMore: true, first: { updatedAt: 0, trace } },
      details: { displayName: words, description: words, wrong: { displayName: words, description: words } },
      wrongPicture: words,
      retention: { days: words, wrong: words },
    }),
    'a shorter retention': retentionPage({
      namespace: team,
      outlook: { days: 30, due: 0, isMore: false, first: { updatedAt: 0, trace } },
      now: 0,
    }),
    timeline: timelinePage({
      ...{ namespace: team, part: 'all', nextCursor: words, now: 0 },
      events: [
        {
          ...{ revision: 0, type: 'HistoryErased', at: 0, text: words },
          ...{ actor: { userId: words, displayName: words }, trace: { id: words, externalId: words } },
        },
      ],
    }),
    'a member who is removed': removalPage({
      ...{ namespace: team, own: member, count: { members: 2, admins: 1 } },
      member: { ...member, user: { id: 'another', displayName: words } },
    }),
    insights: insightsPage({
      ...{ slug: words, role: 'admin', period: 7, timeZone: words, now: 0, service: words, seesAllAuthors: true },
      dates: ['2026-01-31', '2026-02-01'],
      days: [undefined, sums],
      total: sums,
      agents: [{ ...sums, name: words }],
      models: [{ ...sums, name: words }],
      projects: [{ ...sums, name: words }],
      authors: [{ ...sums, name: words }],
      tools: [{ traces: 1, messages: 1, failed: 1, name: words }],
      hours: Array.from({ length: 168 }, (_, i) => i % 2),
      dearest: [{ trace, mark: words }],
      longest: [{ trace, mark: words }],
    }),
    'insights of nothing': insightsPage({
      ...{ slug: words, role: 'member', period: 7, timeZone: words, now: 0, service: words, seesAllAuthors: false },
      ...{ dates: ['2026-01-31'], days: [undefined], total: { traces: 0, messages: 0 } },
      ...{ agents: [], models: [], projects: [], authors: [], tools: [], hours: [], dearest: [], longest: [] },
    }),
    settings: settingsPage({
      user: named.user,
      sessions: [session],
      identities: [identity, identity],
      identityId: words,
      browserId: words,
      viewer,
      saved: words,
    }),
    'who can read': visibilityPage(
      { ...trace, namespace: { id: words, slug: words }, createdBy: words, ai_summary: words },
      words,
      [{ slug: words, displayName: words }],
    ),
    'to rename': renamePage(
      { ...trace, namespace: { id: words, slug: words }, createdBy: words },
      { title: words, isLate: true },
    ),
    'to delete': deletePage({ ...trace, namespace: { id: words, slug: words }, createdBy: words, messageCount: 2 }),
    evidence: evidencePage({
      ...{
        trace: shownTrace,
        fileName: 'a.evidence.json',
        service: words,
        begunAnew: { at: 0, movedFrom: words },
      },
      coverage: { is: 'covered', checkpoint: { size: 1, key: 'log+1+key' }, through: 0n, retryAfter: 2 },
    }),
    'no evidence': evidencePage({
      ...{ trace: shownTrace, fileName: 'a.evidence.json', service: words },
      ...{ coverage: { is: 'unsigned' }, begunAnew: undefined },
    }),
    'timeline of a session': traceTimelinePage({
      ...{ trace: shownTrace, nextCursor: words, now: 0 },
      coverage: { is: 'covered', checkpoint: { size: 1, key: 'log+1+key' }, through: 0n, retryAfter: undefined },
      events: [{ revision: 0, type: 'TraceCreated', at: 0, text: words, actor: { userId: words, displayName: words } }],
    }),
    search: searchPage({
      ...{ q: words, sort: 'newest', now: 0, zone: words },
      parents: new Map([[trace.id, trace]]),
      fields: [{ label: words, q: words }],
      suggestions: [{ label: 'has:error', q: words }],
      narrower: [{ name: 'Author', values: [{ label: words, q: words, count: 1 }] }],
      offers: [],
      answer: {
        ...{ total: { value: 1, exact: false }, complete: false, indexedThrough: 0, nextCursor: words },
        notUnderstood: [{ text: words, why: words }],
        results: [{ trace, more: 2, hits: [{ messageExternalId: words, ordinal: 0, in: 'call', at: 0, snippet }] }],
      },
    }),
    'nothing found': searchPage({
      ...{ q: `"${words}"`, sort: 'relevance', now: 0, zone: undefined, suggestions: [], narrower: [] },
      parents: new Map(),
      fields: [{ label: words, q: words }],
      offers: [{ how: 'without', what: words, q: words, sessions: 1, isExact: false }],
      answer: {
        ...{ results: [], total: { value: 0, exact: true }, complete: true, indexedThrough: 0 },
        meant: [{ text: words, instead: words }],
      },
    }),
    help: helpPage(words, words),
    'sign in': signInPage({ known: named, codehost: words, next: words, service: words, origin: words }),
    'another browser': browserLinkPage(words, 0),
    'a link of another browser': browserPage({
      ...{ user: named, present: named, deviceName: words, code: words, action: words, token: words },
    }),
    'a link for a known browser': knownPage(named),
    'a link that does not work': joinProblemPage(words),
    'an invite is needed': needsInvitePage,
    'an invite for a member': invitePage(invited, { is: 'member' }),
    'an invite that has ended': invitePage(invited, { is: 'ended', state: 'expired' }),
    'an invite that has ended, for strangers': invitePage(
      { ...invited, isSignedIn: false },
      { is: 'ended', state: 'accepted' },
    ),
    'an invite to accept': invitePage(invited, { is: 'ready', user: named }),
    'an invite for another address': invitePage(invited, { is: 'other address', user: named, codehost: words }),
    'an invite for a new person': invitePage(invited, {
      is: 'signed out',
      ways: { known: undefined, codehost: undefined, newcomers: 'welcome', token: words },
    }),
    'an invite in a known browser': invitePage(invited, {
      is: 'signed out',
      ways: { known: named, codehost: words, newcomers: 'codehost', token: words },
    }),
    'an invite without a way in': invitePage(
      { ...invited, invitedBy: undefined },
      { is: 'signed out', ways: { known: undefined, codehost: undefined, newcomers: 'closed', token: words } },
    ),
    'an unknown invite': unknownInvitePage,
    'a refused invite': refusedInvitePage(words, words),
    'not found': errorPage({
      code: 'not_found',
      message: words,
      issues: [words],
      requestId: words,
      path: words,
      service: words,
      origin: words,
      isOfAddress: true,
      canSignIn: true,
    }),
    unauthorized: errorPage({
      code: 'unauthorized',
      message: words,
      issues: [words],
      requestId: words,
      path: words,
      service: words,
      origin: words,
      isOfAddress: true,
      canSignIn: true,
    }),
    'a wrong address': errorPage({
      code: 'invalid_request',
      message: words,
      issues: [words],
      requestId: words,
      path: words,
      service: words,
      origin: words,
      isOfAddress: true,
      canSignIn: true,
    }),
    'another error': errorPage({
      code: 'forbidden',
      message: words,
      issues: [words],
      requestId: words,
      path: words,
      service: words,
      origin: words,
      isOfAddress: true,
      canSignIn: true,
    }),
    'a new user': confirmationPage({ ...question, review: { ...review, joining: 'new' } }),
    'a user of the device': confirmationPage({ ...question, review: { ...review, ...named, joining: 'joins' } }),
    'a known user': confirmationPage({ ...question, review: { ...review, ...named, joining: 'known' } }),
    browser: browserPage({ user: named, present: named, deviceName: words, code: words, action: words }),
    code: codePage(words, words),
    denied: deniedPage,
    problem: problemPage(words),
    'a page of any title': { title: words, content: deniedPage.content },
  }
}

await prepareScripts((error) => assert.unreachable(String(error)))

const shapeOf = (source: string) =>
  elementsOf(source).map(({ tagName, attrs }) => [tagName, ...attrs.map(({ name }) => name)].join(' '))

const HARMLESS = 'harmless'
const harmless = pagesOf(HARMLESS)

const count = (text: string, part: string) => text.split(part).length - 1
const shown = (source: string) => textOf(elementsOf(source)[0]!)
/** Of each page its elements, and how often it shows the words. */
const expected = Object.entries(harmless).map(([name, page]) => {
  const { body } = sent(page)
  return { name, shape: shapeOf(body), times: count(shown(body), HARMLESS) }
})

/** Where a title is not what the page is about, it is cut from this length on. */
const MOST_UNCUT = 80
const uncut = hostileText.filter((text) => visibleLine(`begin${text}end`).length <= MOST_UNCUT)

test('any text in any place of a page stays text, and is shown', () => {
  fc.assert(
    fc.property(uncut, (text) => {
      const words = `begin${text}end`
      const pages = pagesOf(words)
      for (const { name, shape, times } of expected) {
        const { body } = sent(pages[name]!)
        assert.equal(shapeOf(body), shape, name)
        // Names and titles stand on one line; fields have a text exactly, as far as HTML can.
        const inField = shown(markup`<!doctype html><title>${exactly(words)}</title>`.source)
        const forms = new Set([visible(words), visibleLine(words), inField])
        const found = [...forms].map((form) => count(shown(body), form)).reduce((sum, one) => sum + one, 0)
        assert.is(found, times, name)
      }
    }),
    { numRuns: 20 },
  )
})

const IN_HEAD =
  /<link rel="icon" href="\/assets\/[\w.-]+" type="image\/svg\+xml">\n<link rel="stylesheet" href="\/assets\/[\w.-]+">\n<\/head>/
const AT_END = /(?:<script type="module" src="\/assets\/[\w.-]+"><\/script>\n)+<\/body>\n<\/html>\n$/

test('a page loads only the files that all pages load, and caches must not store it', () => {
  for (const [name, page] of Object.entries(harmless)) {
    const { headers, body } = sent(page)
    assert.match(body, IN_HEAD, name)
    assert.match(body, AT_END, name)
    const rest = body.replace(IN_HEAD, '').replace(AT_END, '')
    assert.not.match(rest, /<script|<link|<img|<iframe|src=|<style|url\(|@import| style=| on\w+=/, name)
    assert.match(
      headers['content-security-policy']!,
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action [^;]+; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types tracebook$/,
      name,
    )
    assert.equal([headers['cache-control'], headers['x-frame-options']], ['no-store', 'DENY'], name)
    assert.match(body, `<meta name="referrer" content="${headers['referrer-policy']}">`, name)
  }
})

test('every page has the form of the search, and its policy allows sending it', () => {
  for (const [name, page] of Object.entries(harmless)) {
    const { headers, body } = sent(page)
    assert.match(headers['content-security-policy']!, /; form-action 'self'/, name)
    assert.is(count(body, '<form class="field" role="search" action="/search">'), 1, name)
  }
})

test.run()
