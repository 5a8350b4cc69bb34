package quota

import (
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// A Bound is the most resources of a kind that an account has, or makes in a day, with those of its profiles. It bounds
// what costs nothing to make, so that nobody fills the table for free. Live and sandbox count apart.
type Bound struct {
	// Name is the plural of the kind, and Remedy the sentence that says what makes room, without its full stop.
	Name, Remedy string
	Live, Test   int64
	// Daily bounds those of a day (UTC). It is for kinds that end by themselves, which no transaction counts.
	Daily bool
}

// mostInSandbox bounds the resources of a kind in a sandbox, which is free: a test of an agency that is set up in full
// has room.
const mostInSandbox = 500

// The bounds of live accounts. They are some times what the largest agencies have.
const (
	// A profile is a client of an agency.
	mostProfiles = 5000
	// These are four for each client.
	mostFactories = 20_000
	// A link is for a client's posts of some days: each client may have one a day.
	mostReviewLinks = 5000
	// Most accounts are connected within minutes, and then count no more.
	mostPendingAccounts = 2000
	// A chat costs nothing before its first message, and is never deleted: so a day has what people begin by hand.
	mostChats = 2000
	// A chat of the sandbox may have 300 KB for nothing.
	mostChatsInSandbox = 200
	// An experiment is never deleted, and runs for days: so a day has what a caller begins for some hundred factories.
	mostExperiments = 500
	// An export of a profile each: more read the account over and over.
	mostTransfers = 500
	// Each has a copy of all files, which is kept for days.
	mostWholeExports = 20
	// A rehearsal and a quote cost nothing, and are kept for days: so a day has what people try, and what programs ask
	// before each plan of some hundred factories.
	mostRehearsals = 2000
)

// WholeExport counts an export of an account as a whole, in addition to those of its profiles. The commit is refused if
// the account has begun the most of today.
func WholeExport(tx *store.Tx, now time.Time, o tenant.Owner) {
	day := now.UTC().Truncate(24 * time.Hour)
	tx.CountUntil(dayKey("export#whole", o, day.Format(time.DateOnly)), 1, mostWholeExports, day.Add(keepDay),
		errs.New(errs.InvalidState, "The account already has %d exports of the whole account of today (UTC), which is "+
			"the maximum. Fetch the parts of an earlier one, export single profiles, or wait until tomorrow.",
			mostWholeExports))
}

// The bounds. pkg/service/docs/guides/limits.md tells them to callers.
var (
	Profiles = Bound{Name: "profiles", Remedy: "Delete one first", Live: mostProfiles, Test: mostInSandbox}

	Factories = Bound{Name: "factories", Remedy: "Delete one first", Live: mostFactories, Test: mostInSandbox}

	ReviewLinks = Bound{Name: "review links", Remedy: "Delete one of them first", Live: mostReviewLinks,
		Test: mostInSandbox, Daily: true}

	PendingAccounts = Bound{Name: "pending social accounts", Remedy: "Connect or disconnect one of them first",
		Live: mostPendingAccounts, Test: mostInSandbox, Daily: true}

	Experiments = Bound{Name: "experiments", Remedy: "Start one of the drafts", Live: mostExperiments,
		Test: mostInSandbox, Daily: true}

	PostImports = Bound{Name: "imports of posts", Remedy: "Read the posts of an earlier one", Live: mostPendingAccounts,
		Test: mostInSandbox, Daily: true}

	Exports = Bound{Name: "exports", Remedy: "Fetch the parts of an earlier one", Live: mostTransfers,
		Test: mostInSandbox, Daily: true}

	Rehearsals = Bound{Name: "rehearsals", Remedy: "Use one of them", Live: mostRehearsals, Test: mostInSandbox,
		Daily: true}

	Quotes = Bound{Name: "quotes", Remedy: "Use one of them", Live: mostRehearsals, Test: mostInSandbox, Daily: true}

	Imports = Bound{Name: "imports", Remedy: "Read the map of an earlier one", Live: mostTransfers,
		Test: mostInSandbox, Daily: true}

	Chats = Bound{Name: "chats", Remedy: "Continue one of them", Live: mostChats, Test: mostChatsInSandbox, Daily: true}
)
