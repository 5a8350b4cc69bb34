package recovery

import (
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
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
	account.Kind:            {own: true},
	analytics.Kind:          {own: true},
	"api_key":               {own: true},
	chain.EntryKind:         {own: true},
	"balance":               {own: true},
	ledger.Kind:             {own: true},
	architect.Kind:          {own: true},
	architect.DraftKind:     {own: true},
	item.EndKind:            {own: true},
	"content_plan_recipe":   {own: true},
	event.Kind:              {own: true},
	"sample_event":          {own: true},
	item.ReviewLinkKind:     {own: true},
	engagement.Kind:         {own: true},
	factoryrecord.Kind:      {own: true},
	product.PromotionKind:   {own: true},
	advice.ProposalItemKind: {own: true},
	social.Kind:             {own: true},
	social.ApplicationKind:  {own: true},
	catalog.TrainedKind:     {own: true},
	crm.Kind:                {own: true},
	webhook.Kind:            {own: true},
	webhook.DeliveryKind:    {own: true},
	person.Kind:             {own: true},
	connection.ItemKind:     {own: true},
	"domain":                {own: true},
	"group":                 {own: true},
	profile.Kind:            {own: true},
	"purse":                 {own: true},
	automation.ItemKind:     {own: true},
	experiment.ItemKind:     {own: true},

	item.ItemKind: {
		own: true, unfinished: []string{string(item.Queued), string(item.Generating), string(item.Scheduled),
			string(item.Publishing)},
		parts: "publications", working: string(item.PublicationPublishing),
	},
	studio.ItemKind:          {own: true, unfinished: []string{string(studio.Queued), string(studio.Generating)}},
	advice.DiagnosisItemKind: {own: true, unfinished: []string{string(advice.Queued), string(advice.Running)}},
	plan.ItemKind: {own: true, unfinished: []string{string(plan.Queued), string(plan.Planning), string(plan.Proposed),
		string(plan.Generating)}},
	training.ItemKind:   {own: true, unfinished: []string{string(training.Queued), string(training.Running)}},
	media.ItemKind:      {own: true, unfinished: []string{string(media.Pending)}},
	product.ItemKind:    {own: true, parts: "photos", working: string(media.Pending)},
	transfer.ExportItem: {unfinished: []string{string(transfer.Running)}},
	transfer.ImportItem: {own: true, unfinished: []string{string(transfer.Running)}},
	"quote":             {own: true},
	"rehearsal":         {},

	generate.RegisterKind:    {own: true},
	generate.LikenessKind:    {},
	generate.CertificateKind: {},
	task.ItemKind:            {},
	task.OutboxKind:          {},
	factoryrecord.CountsKind: {},
	"answer":                 {},
	"automated":              {},
	"audit_link":             {},
	"breaker":                {},
	"checkpoint":             {},
	"content_plan_book":      {},
	"content_plan_items":     {},
	"content_source":         {},
	"content_text":           {},
	"crm_identity":           {},
	"crm_made":               {},
	"email":                  {},
	"foreign_product":        {},
	"inflight":               {},
	social.LookupItemKind:    {},
	session.ProgramKind:      {},
	session.GrantKind:        {},
	session.SpentKind:        {},
	"offer_lock":             {},
	"profile_logo":           {},
	"profile_uses":           {},
	"invitation":             {},
	"publication_slot":       {},
	item.ReadingsKind:        {own: true},
	publication.DossierKind:  {own: true},
	"publish_slot":           {},
	"sandbox_clock":          {},
	social.PastKind:          {own: true},
	social.ImportKind:        {own: true, unfinished: []string{string(social.ImportRunning)}},
	"secret":                 {},
	"sku":                    {},
	"social_identity":        {},
	"applications":           {},
	"token":                  {},
}
