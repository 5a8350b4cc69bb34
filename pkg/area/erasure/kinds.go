package erasure

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
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/task"
)

// KindOf has the properties of a kind of items.
type KindOf struct {
	Name string
	// Prefix is that of the ids of what an owner has made. Items of the kind are listed by their owner, and deleted as
	// their own operation does, in the order of the table. The others go with them, or at the end.
	Prefix string
	// Own marks the customer's data, which the operator's export has. Other kinds are the service's own: work in
	// progress, notes for look-ups, secrets, and records for repeated calls.
	Own bool
	// Unfinished are the states in which a task works on the item.
	Unfinished []string
	// Row marks a part of an item that is a row of its own. The ids of its tasks name it, and their subject is the
	// item.
	Row bool
	// Parts is the member of the document whose elements have their own tasks while they are in the state Working.
	Parts, Working string
	// Kept marks what stays after an erasure: what the law may require, and the note of the erasure itself.
	Kept bool
}

// Kinds are all kinds of items of both tables, except counters. Each new kind must be added: the check of a restored
// table reports items of kinds that are missing here. Plans and automations make items, and so are the first. The
// factories are the last of those that an owner has made, so that a caller who sees none knows that the sandbox is
// empty.
var Kinds = []KindOf{
	{Name: plan.ItemKind, Prefix: id.ContentPlan, Own: true, Unfinished: states(plan.Queued, plan.Planning,
		plan.Proposed, plan.Generating)},
	{Name: automation.ItemKind, Prefix: id.Automation, Own: true},
	{Name: experiment.ItemKind, Prefix: id.Experiment, Own: true},
	{Name: item.ItemKind, Prefix: id.ContentItem, Own: true, Unfinished: states(item.Queued, item.Generating,
		item.Scheduled, item.Publishing)},
	{Name: item.ReviewLinkKind, Prefix: id.ReviewLink, Own: true},
	{Name: engagement.Kind, Prefix: id.Comment, Own: true},
	{Name: studio.ItemKind, Prefix: id.Generation, Own: true, Unfinished: states(studio.Queued, studio.Generating)},
	{Name: media.ItemKind, Prefix: id.Media, Own: true, Unfinished: states(media.Pending)},
	{Name: training.ItemKind, Prefix: id.Training, Own: true, Unfinished: states(training.Queued, training.Running)},
	{Name: catalog.TrainedKind, Prefix: id.Model, Own: true},
	{Name: event.Kind, Prefix: id.Event, Own: true},
	{Name: analytics.Kind, Prefix: id.Factory, Own: true},
	{Name: architect.DraftKind, Prefix: id.Draft, Own: true},
	{Name: architect.Kind, Prefix: id.Chat, Own: true},
	{Name: advice.DiagnosisItemKind, Prefix: id.Diagnosis, Own: true, Unfinished: states(advice.Queued,
		advice.Running)},
	{Name: advice.ProposalItemKind, Prefix: id.Proposal, Own: true},
	{Name: product.PromotionKind, Prefix: id.Promotion, Own: true},
	{Name: product.ItemKind, Prefix: id.Product, Own: true, Parts: "photos", Working: string(media.Pending)},
	{Name: social.DaysKind, Prefix: id.SocialAccount},
	{Name: social.PastKind, Prefix: id.SocialAccount, Own: true},
	{Name: social.ImportKind, Prefix: id.PostImport, Own: true, Unfinished: states(social.ImportRunning)},
	{Name: social.Kind, Prefix: id.SocialAccount, Own: true},
	{Name: social.ApplicationKind, Prefix: id.Application, Own: true},
	{Name: transfer.ExportItem, Prefix: id.Export, Unfinished: states(transfer.Running)},
	{Name: transfer.ImportItem, Prefix: id.Import, Own: true, Unfinished: states(transfer.Running)},
	{Name: factoryrecord.Kind, Prefix: id.Factory, Own: true},

	{Name: ledger.Kind, Own: true, Kept: true},
	{Name: Kind, Own: true, Kept: true},

	{Name: account.Kind, Own: true}, {Name: "api_key", Own: true}, {Name: chain.EntryKind, Own: true},
	{Name: "balance", Own: true}, {Name: item.EndKind, Own: true}, {Name: "content_plan_recipe", Own: true},
	{Name: "sample_event", Own: true}, {Name: crm.Kind, Own: true}, {Name: webhook.Kind, Own: true},
	{Name: webhook.DeliveryKind, Own: true}, {Name: person.Kind, Own: true}, {Name: connection.ItemKind, Own: true},
	{Name: "domain", Own: true}, {Name: "group", Own: true}, {Name: profile.Kind, Own: true},
	{Name: "purse", Own: true}, {Name: "quote", Own: true}, {Name: generate.RegisterKind, Own: true},
	{Name: item.ReadingsKind, Own: true}, {Name: publication.DossierKind, Own: true},
	{Name: item.PublicationKind, Own: true, Row: true, Unfinished: states(item.PublicationPublishing)},

	{Name: "answer"}, {Name: "applications"}, {Name: "audit_link"}, {Name: "automated"}, {Name: "breaker"},
	{Name: "checkpoint"}, {Name: "content_plan_book"}, {Name: "content_plan_items"}, {Name: "content_source"},
	{Name: "content_text"}, {Name: "crm_identity"}, {Name: "crm_made"}, {Name: "email"}, {Name: "foreign_product"},
	{Name: "inflight"}, {Name: "invitation"}, {Name: "offer_lock"}, {Name: "profile_logo"}, {Name: "profile_uses"},
	{Name: "publish_slot"}, {Name: "rehearsal"}, {Name: "sandbox_clock"},
	{Name: "secret"}, {Name: "sku"}, {Name: "social_identity"}, {Name: "token"}, {Name: factoryrecord.CountsKind},
	{Name: generate.CertificateKind}, {Name: generate.LikenessKind}, {Name: session.GrantKind},
	{Name: session.ProgramKind}, {Name: session.SpentKind}, {Name: social.LookupItemKind}, {Name: task.ItemKind},
	{Name: task.OutboxKind}, {Name: transfer.NamedFile}, {Name: transfer.Imported}, {Name: quota.BytesKind},
}

// states returns states as documents have them.
func states[S ~string](all ...S) []string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return texts
}

// ByName are the kinds by their names.
var ByName = func() map[string]KindOf {
	all := map[string]KindOf{}
	for _, k := range Kinds {
		all[k.Name] = k
	}
	return all
}()

// Made are the kinds of what an owner has made, in the order in which it is deleted.
var Made = func() (all []KindOf) {
	for _, k := range Kinds {
		if k.Prefix != "" {
			all = append(all, k)
		}
	}
	return all
}()
