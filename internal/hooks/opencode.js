// ctx records what is said in opencode, and tells a new session what was done before.
// `ctx install opencode` writes this file; `ctx uninstall opencode` removes it.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"

const program = "ctx"

// call runs the hook in the directory of the session, and returns what it answers. The hook ends
// within seconds. Opencode may exit right after a turn, so nothing runs beside it.
function call(cwd, event) {
  const run = spawnSync(program, ["hook", "opencode"], {
    cwd,
    input: JSON.stringify({ ...event, cwd }),
    encoding: "utf8",
    timeout: 30000,
    stdio: ["pipe", "pipe", "ignore"],
  })
  if (run.error) throw run.error
  return run.stdout ? JSON.parse(run.stdout) : {}
}

// handed has what was handed over of each session: the id and a digest of each message.
const handed = new Map()

// handOver hands over the messages that are new or changed since the last time, and those after
// them. ctx answers if it does not have the one before: then it gets all of them.
function handOver(cwd, info, messages) {
  const row = (m) => m.info.id + " " + createHash("sha1").update(JSON.stringify(m)).digest("hex")
  const rows = messages.map(row)
  const had = handed.get(info.id) ?? []
  handed.delete(info.id)
  let same = 0
  while (same < had.length && same < rows.length && had[same] === rows[same]) same++
  const event = { hook_event_name: "session.idle", session_id: info.id }
  const give = (from) => call(cwd, { ...event, ...from, document: { info, messages: messages.slice(same) } })
  if (info.revert) same = 0
  if (same > 0 && give({ after: messages[same - 1].info.id }).whole) same = 0
  if (same === 0) give({})
  handed.set(info.id, rows)
}

// quietly runs work whose failure must not disturb opencode: `ctx doctor` finds what is wrong.
async function quietly(work) {
  try {
    await work()
  } catch {}
}

const server = async ({ client, directory }) => {
  const told = new Map()
  const session = async (id) => {
    const path = { id }
    const info = await client.session.get({ path })
    const messages = await client.session.messages({ path })
    return { info: info.data, messages: messages.data }
  }
  // brief asks for what the model of a session is told. opencode keeps nothing of it, so a session
  // that goes on in a new process is told again; one that was made shorter, of itself.
  const brief = async (id) => {
    const { info, messages } = await session(id)
    if (!info || !messages || info.parentID) return "" // a subagent is told by the one that it works for
    const short = messages.some((m) => m.info.role === "assistant" && m.info.summary)
    const event = { hook_event_name: "session.start", source: short ? "compact" : "startup", session_id: id }
    // Of a session that goes on ctx has to know what it is, to tell it nothing that it has.
    if (messages.length > 2) event.document = { info, messages }
    return call(directory, event).hookSpecificOutput?.additionalContext ?? ""
  }
  // isHelper reports whether a request is one for a title or a summary, by the prompt of its agent.
  let helpers
  const isHelper = async (system) => {
    helpers ??= client.app.agents().then(
      ({ data }) => (data ?? []).filter((a) => a.prompt && ["title", "summary", "compaction"].includes(a.name)),
      () => [],
    )
    return (await helpers).some((a) => system[0]?.startsWith(a.prompt))
  }
  return {
    event: ({ event }) =>
      quietly(async () => {
        if (event.type !== "session.idle") return
        const { info, messages } = await session(event.properties.sessionID)
        if (info && messages) handOver(directory, info, messages)
      }),
    // The next request is one of a session that is shorter. Its summary is told what to keep.
    "experimental.session.compacting": (input, output) =>
      quietly(async () => {
        told.delete(input.sessionID)
        const event = { hook_event_name: "session.compacting", session_id: input.sessionID }
        const text = call(directory, event).hookSpecificOutput?.additionalContext
        if (text) output.context.push(text)
      }),
    "experimental.chat.system.transform": (input, output) =>
      quietly(async () => {
        const id = input.sessionID
        if (!id || (await isHelper(output.system))) return
        if (!told.has(id)) told.set(id, brief(id))
        const text = await told.get(id)
        if (text) output.system.push(text)
      }),
  }
}

export default { id: "ctx", server }
