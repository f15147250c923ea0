package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// factKind is one sort of planted fact. In its texts {s} stands for the subject and {v} for the
// answer.
type factKind struct {
	query    string
	subjects []string
	shapes   []string
	value    func(*rand.Rand) string
}

// factKinds are the sorts of facts. Nothing in ctx is tuned on their wording: the shapes are meant
// to differ from each other as much as people do.
func factKinds() []factKind {
	return []factKind{
		{
			"Which port does {s} use?",
			[]string{"proxy", "relay", "emulator", "collector", "sidecar", "mirror", "tunnel"},
			[]string{
				"oh, and {s} answers at {v} these days.",
				"you will find {s} behind {v}, if you feel like poking it.",
				"{v} is where {s} lives.",
				"for {s} the network people handed us {v}.",
				"my laptop only reaches {s} through {v}, which took me a while.",
			},
			func(r *rand.Rand) string { return fmt.Sprint(3001 + r.IntN(61000)) },
		},
		{
			"When is {s}?",
			[]string{"freeze", "audit", "handover", "demo", "cutover", "retrospective", "training"},
			[]string{
				"{s} slipped to {v}, sadly.",
				"mark {v} for {s}.",
				"half of the office is away until {v}, which is when {s} happens.",
				"{v} would suit everybody for {s}, and nobody objected.",
				"we all have {s} ahead of us on {v}.",
			},
			func(r *rand.Rand) string {
				months := []string{"January", "March", "May", "June", "August",
					"October", "November"}
				return fmt.Sprintf("%d %s", 1+r.IntN(28), pick1(r, months))
			},
		},
		{
			"Who knows {s} best?",
			[]string{
				"billing code", "rollout plan", "contract", "style guide", "backlog", "dashboard",
				"on-call rota",
			},
			[]string{
				"{v} looks after {s} while Henk is travelling.",
				"it was {v} who put {s} together back then.",
				"bother {v} with all that concerns {s}.",
				"{s} is {v}'s baby.",
				"I had lunch with {v}, the person behind {s}.",
			},
			func(r *rand.Rand) string {
				first := strings.Fields("Marta Joris Amina Tilde Owen Priya Lucas Noor Sven Elif")
				last := strings.Fields(
					"Okafor Lindqvist Barros Teller Vance Moreau Kato Drescher Quill Haas")
				return pick1(r, first) + " " + pick1(r, last)
			},
		},
		{
			"What was chosen for {s}?",
			[]string{"paging", "login", "queueing", "error format", "storage", "locking",
				"report layout"},
			[]string{
				"{v} carried the day for {s}.",
				"after a long call, {s} ends up as {v}.",
				"{s}: {v} it is, then.",
				"as for {s}, I am happiest with {v}, and Tilde is as well.",
				"{v} suit us best as far as {s} is concerned.",
			},
			func(r *rand.Rand) string {
				how := strings.Fields("plain shared nested signed lazy sorted mirrored hashed")
				what := []string{
					"cursors", "cookies", "ring buffers", "snapshots", "ledgers", "tickets",
					"leases", "columns",
				}
				return pick1(r, how) + " " + pick1(r, what)
			},
		},
		{
			"Which version of {s} is it?",
			[]string{"compiler", "bundler", "driver", "broker", "formatter", "base image",
				"client library"},
			[]string{
				"the build boxes carry {v} of {s}.",
				"{s} came back to life once I went down to {v}.",
				"my machine has {v} of {s}, yours must have overtaken it.",
				"{v} is as far as we can take {s} before things crumble.",
				"they shipped {s} as {v} overnight.",
			},
			func(r *rand.Rand) string {
				return fmt.Sprintf("%d.%d.%d", 1+r.IntN(9), r.IntN(30), r.IntN(20))
			},
		},
		{
			"Where is {s}?",
			[]string{
				"fixture data", "seed script", "licence text", "translation table",
				"crash dump", "schema",
				"postmortem",
			},
			[]string{
				"{s} ended up in {v}.",
				"have a peek at {v} to see {s}.",
				"{v} holds {s} these days.",
				"somebody tucked {s} away in {v} ages ago.",
				"if you are hunting {s}, try {v} first.",
			},
			func(r *rand.Rand) string {
				top := pick1(r, strings.Fields("tools deploy assets internal vendored web"))
				dir := pick1(r, strings.Fields("pack intake north legacy grid ledger probe"))
				name := pick1(r, strings.Fields("roster atlas harbor sample kettle meadow quarry"))
				return top + "/" + dir + "/" + name +
					pick1(r, strings.Fields(".txt .sql .yaml .csv .md"))
			},
		},
		{
			"How much can {s} take?",
			[]string{
				"uploader", "worker pool", "search box", "mail gateway", "import job", "cache node",
				"label printer",
			},
			[]string{
				"beyond {v} {s} starts to choke.",
				"{s} gives up after {v}.",
				"{v} is about as much as {s} will stomach.",
				"I fed {s} up to {v} and it kept smiling, one step more and it fell over.",
				"they promised that {s} copes with {v} and no further.",
			},
			func(r *rand.Rand) string {
				units := []string{"rows a second", "MB", "parallel calls", "open files", "parcels",
					"pages a minute"}
				return fmt.Sprintf("%d %s", 20+r.IntN(900), pick1(r, units))
			},
		},
		{
			"What is {s} called?",
			[]string{
				"side branch", "new bucket", "nightly run", "test tenant",
				"feature switch", "spare host",
				"beta channel",
			},
			[]string{
				"we baptised {s} {v}, for no good reason.",
				"{s} goes by {v} in all the tickets.",
				"look for {v} when you want {s}.",
				"{v} stands for {s} on the board.",
				"I gave {s} the silly title {v}.",
			},
			func(r *rand.Rand) string {
				how := strings.Fields("crimson sleepy brass polar velvet humble amber")
				what := strings.Fields("otter lantern walnut ferry cactus magpie teapot")
				return pick1(r, how) + "-" + pick1(r, what)
			},
		},
	}
}

// modifiers go before the subjects.
func modifiers() []string {
	return []string{
		"northern", "public", "old", "second", "internal", "partner", "mobile", "regional",
		"temporary", "European", "shared", "quiet",
	}
}

func moods() []string {
	return []string{
		"fine", "odd", "slow", "tidy", "fragile", "noisy", "dull", "promising",
		"half done", "clumsy",
	}
}

func moments() []string {
	return []string{
		"this morning", "before lunch", "yesterday", "just now", "over the weekend",
		"in the stand-up", "on the train", "a moment ago", "last night",
		"between two meetings",
	}
}

// userFiller are sentences of the user that state nothing anybody would ask for.
func userFiller() []string {
	return []string{
		"could you take another look at {s}, it felt {a} {w}.",
		"I am not sure what to make of {s} yet.",
		"thanks, that already helps a lot.",
		"let us leave {s} aside for the moment and come back to {t}.",
		"somebody grumbled about {s} again {w}.",
		"what would you try first with {t}?",
		"hm, {s} looks {a} from here.",
		"sounds good to me, carry on.",
		"I tried it {w} and it seemed {a}.",
		"can we get {s} and {t} to look alike?",
		"please go easy on {t}, people are touchy about it.",
		"that was quick.",
		"sorry, I got pulled away by {s} {w}.",
		"is there anything else we should check around {t}?",
		"I have {n} tabs open and none of them is about {s}.",
		"do you remember how {t} behaved {w}?",
		"we can talk about {s} when the others are back.",
		"my colleague finds {t} rather {a}.",
		"coffee first, then {s}.",
		"I read your notes on {t} {w}, they were clear.",
		"maybe {s} is simply {a} by nature.",
		"good catch.",
		"would you walk me through {t} once more?",
		"I do not mind if {s} stays {a} for another week.",
		"the room went silent when I mentioned {t} {w}.",
		"there are {n} people in the chat and all of them want {s}.",
		"how does {s} get along with {t}?",
		"no rush with {t}.",
	}
}

// modelFiller are sentences of the model that state nothing anybody would ask for.
func modelFiller() []string {
	return []string{
		"I went through {s} and nothing stood out.",
		"let me have a closer look at {t} before I say more.",
		"{s} reads {a} to me, though I may be missing context.",
		"sure, I will start with {t}.",
		"I tidied up around {s} a little.",
		"it would help to see how {t} behaves under load.",
		"so far {s} and {t} do not get in each other's way.",
		"one thing I noticed about {t}: it feels {a}.",
		"I can draft something for {s} if you like.",
		"that matches what I saw {w}.",
		"I looked at {t} {n} times and it behaved each time.",
		"here is a short outline for {s}, feel free to strike things out.",
		"I would keep {t} as it stands for now.",
		"happy to go deeper into {s} whenever you want.",
		"my first guess about {t} turned out {a}.",
		"everything around {s} is green on my side.",
		"I rearranged {t} a bit so that it is easier to follow.",
		"there is some overlap between {s} and {t}, nothing dramatic.",
		"give me a moment for {t}.",
		"I compared {s} with what we had {w}.",
		"the picture is still {a}, but it is getting clearer.",
		"{t} took {n} tries, then it went through.",
		"understood, {s} comes next.",
		"I left a comment near {t} for whoever comes by later.",
		"as a next step I suggest a small experiment with {s}.",
		"nothing about {t} surprised me {w}.",
		"I am done with {s} for the time being.",
		"we could also fold {s} into {t}, it is up to you.",
	}
}
