package recovery

import (
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice/diagnosis"
	"github.com/content-automation/api/pkg/area/advice/proposal"
	"github.com/content-automation/api/pkg/area/analytics/rollup"
	"github.com/content-automation/api/pkg/area/architect/chat"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/tally"
	"github.com/content-automation/api/pkg/area/crm/integration"
	"github.com/content-automation/api/pkg/area/engagement/comment"
	"github.com/content-automation/api/pkg/area/media/incoming"
	planjob "github.com/content-automation/api/pkg/area/plan/job"
	"github.com/content-automation/api/pkg/area/product/record"
	social "github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/studio/generation"
	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/task"
)

// kind has the properties of a kind of items that recovery needs.
type kind struct {
	// own marks the customer's data, which an export has. Other kinds are the service's
	// own: work in progress, notes for look-ups, secrets, and records for repeated calls.
	own bool
	// unfinished are the states in which a task works on the item.
	unfinished []string
	// parts is the member of the document whose elements have their own tasks while they are
	// in the state working.
	parts, working string
}

// kinds are all kinds of items of both tables, except counters. Each new kind must be added:
// the check reports items of kinds that are missing here.
var kinds = map[string]kind{
	account.Kind:          {own: true},
	rollup.Kind:           {own: true},
	"api_key":             {own: true},
	chain.EntryKind:       {own: true},
	"balance":             {own: true},
	ledger.Kind:           {own: true},
	chat.Kind:             {own: true},
	chat.DraftKind:        {own: true},
	item.EndKind:          {own: true},
	"content_plan_recipe": {own: true},
	event.Kind:            {own: true},
	"sample_event":        {own: true},
	item.ReviewLinkKind:   {own: true},
	comment.Kind:          {own: true},
	factoryrecord.Kind:    {own: true},
	record.PromotionKind:  {own: true},
	proposal.ItemKind:     {own: true},
	social.Kind:           {own: true},
	catalog.TrainedKind:   {own: true},
	integration.Kind:      {own: true},
	endpoint.Kind:         {own: true},
	endpoint.DeliveryKind: {own: true},
	person.Kind:           {own: true},
	connection.ItemKind:   {own: true},
	"domain":              {own: true},
	"group":               {own: true},
	profile.Kind:          {own: true},
	"purse":               {own: true},
	automation.ItemKind:   {own: true},

	item.ItemKind: {
		own: true, unfinished: []string{string(item.Queued), string(item.Generating), string(item.Scheduled),
			string(item.Publishing)},
		parts: "publications", working: string(item.PublicationPublishing),
	},
	generation.ItemKind: {own: true, unfinished: []string{string(generation.Queued), string(generation.Generating)}},
	diagnosis.ItemKind:  {own: true, unfinished: []string{string(diagnosis.Queued), string(diagnosis.Running)}},
	planjob.ItemKind: {own: true, unfinished: []string{string(planjob.Queued), string(planjob.Planning),
		string(planjob.Generating)}},
	job.ItemKind:      {own: true, unfinished: []string{string(job.Queued), string(job.Running)}},
	incoming.ItemKind: {own: true, unfinished: []string{string(incoming.Pending)}},
	record.ItemKind:   {own: true, parts: "photos", working: string(incoming.Pending)},

	task.ItemKind:        {},
	task.OutboxKind:      {},
	tally.Kind:           {},
	"answer":             {},
	"automated":          {},
	"audit_link":         {},
	"breaker":            {},
	"checkpoint":         {},
	"content_plan_book":  {},
	"content_plan_items": {},
	"content_source":     {},
	"content_text":       {},
	"crm_identity":       {},
	"crm_made":           {},
	"email":              {},
	"foreign_product":    {},
	"inflight":           {},
	"profile_logo":       {},
	"profile_uses":       {},
	"invitation":         {},
	"publication_slot":   {},
	item.ReadingsKind:    {own: true},
	"publish_slot":       {},
	testclock.Kind:       {},
	"secret":             {},
	"sku":                {},
	"social_identity":    {},
	"token":              {},
}
