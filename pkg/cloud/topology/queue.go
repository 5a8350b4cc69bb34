package topology

import (
	"slices"
	"strings"
	"time"
)

// Queue names a queue of work.
type Queue string

// The queues. Generation has one for each kind of work, so that slow work does not delay quick work.
const (
	GenerateText  Queue = "generate-text"  // texts, and content made of texts
	GenerateImage Queue = "generate-image" // pictures
	GenerateAudio Queue = "generate-audio" // speech and music
	GenerateVideo Queue = "generate-video" // clips and avatars
	Compose       Queue = "compose"        // finished media of generated parts
	ImportMedia   Queue = "import-media"   // media that callers bring in
	Diagnose      Queue = "diagnose"       // diagnoses of factories
	Train         Queue = "train"          // trainings of models
	Publish       Queue = "publish"        // publications, and the tokens of social accounts
	SyncCRM       Queue = "sync-crm"       // integrations with CRMs
	Settle        Queue = "settle"         // calls that died while they reached outside
	Rollup        Queue = "rollup"         // changes that analytics count
	Replay        Queue = "replay"         // replays of events that webhooks have missed
	Dispatch      Queue = "dispatch"       // deliveries of events
	Deliver       Queue = "deliver"        // attempts at webhooks
	DeliverSlow   Queue = "deliver-slow"   // attempts at webhooks that take long to answer
	Mail          Queue = "mail"
	Transfer      Queue = "transfer"    // exports and erasures of accounts
	ImportData    Queue = "import-data" // imports of exports, which are what callers make of them
	SyncFeed      Queue = "sync-feed"   // runs of feeds, and what follows them
)

// Generation are the queues of generation.
var Generation = []Queue{GenerateText, GenerateImage, GenerateAudio, GenerateVideo}

// Tasks are the queues whose messages request steps of tasks.
var Tasks = append([]Queue{Deliver, DeliverSlow, Settle, Replay, ImportMedia, Diagnose, Train, Compose, Publish,
	SyncCRM, Mail, Transfer, ImportData, SyncFeed}, Generation...)

// Outbox are the queues that the relay sends committed work to.
var Outbox = Tasks

// Queues are all queues. Those that are not in Outbox receive messages that no transaction has written: from the
// relay's other work, from the bus, or from other functions.
var Queues = append([]Queue{Dispatch, Rollup}, Outbox...)

// A message stays invisible for visibilityFactor times its function's timeout: with fewer than six, Lambda's own
// retries meet the message again. A function that holds its messages extends their visibility itself. The queue's time
// then only counts if the function dies before it has done so, and is the shortest that Lambda accepts. A message that
// appears twice does no harm: every consumer is idempotent.
const (
	visibilityFactor     = 6
	visibilityFactorHeld = 1
)

// The numbers of times that a message is received before it becomes a dead letter. A message that its function holds
// returns within seconds at first, and so more often while a failure lasts. If Lambda throttles the function, each
// receive counts, too, though nothing was tried. So there are enough receives for leastTime.
const (
	receives     = 5
	receivesHeld = 15
	leastTime    = 15 * time.Minute
)

// EnvName returns the name of the environment variable that holds the queue's address.
func (q Queue) EnvName() string {
	return strings.ToUpper(strings.ReplaceAll(string(q), "-", "_")) + "_QUEUE_URL"
}

// Output returns the name of the stack's output that holds the queue's address.
func (q Queue) Output() string { return Title(string(q)) + "QueueUrl" }

// Consumer returns the function that handles the queue's messages.
func (q Queue) Consumer() Function {
	return find(func(f Function) bool { return slices.Contains(f.Consumes, q) }, "that consumes the queue "+string(q))
}

// Visibility returns how long a received message stays invisible.
func (q Queue) Visibility() time.Duration { return q.Consumer().Visibility() }

// Receives returns how many times a message is received before it becomes a dead letter.
func (q Queue) Receives() int { return q.Consumer().Receives() }

// Visibility returns how long a message that the function has received stays invisible.
func (f Function) Visibility() time.Duration {
	if f.ExtendsVisibility {
		return visibilityFactorHeld * f.Timeout
	}
	return visibilityFactor * f.Timeout
}

// Receives returns how many times the function receives a message before it becomes a dead letter.
func (f Function) Receives() int {
	least := receives
	if f.ExtendsVisibility {
		least = receivesHeld
	}
	return max(least, int(leastTime/f.Visibility()))
}

// EventRule names the dead letters of the rule that sends the bus's events to Dispatch.
const EventRule = "event"

// UploadRule names the dead letters of the rule that sends the notices of uploads to ImportMedia.
const UploadRule = "upload"

// DeadLetters returns the sources of dead letters: each queue, the two rules, and each function that a stream or a
// schedule calls. Each source has a queue of its own.
func DeadLetters() []string {
	all := []string{EventRule, UploadRule}
	for _, q := range Queues {
		all = append(all, string(q))
	}
	for _, f := range Functions {
		if f.Follows() || f.FollowsAudit() || f.Trigger == BySchedule {
			all = append(all, f.Name)
		}
	}
	return all
}

// DeadLettersOutput returns the name of the stack's output that holds the address of the dead letters of a source.
func DeadLettersOutput(source string) string { return Title(source) + "DeadLettersUrl" }

// Title returns a name in the case of a construct's id: GenerateText for generate-text.
func Title(name string) string {
	var id strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}
