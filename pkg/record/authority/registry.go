package authority

import "github.com/content-automation/api/pkg/auth"

// Kind describes one kind of thing that acts later.
type Kind struct {
	// Name is what callers call it.
	Name string
	// Document is the type that keeps its Authority, as the path of its package below the module and its name.
	Document string
	// Item is the kind of the item that holds the document. It is empty if the document is sealed inside of another.
	Item string
	// Acts says what it does when nobody calls.
	Acts string
	// Needs are the scopes that the authority must have when it acts.
	Needs []auth.Scope
	// Content are the members of the document that decide what it does. Who changes one becomes the authority.
	Content []string
	// Changes are the operations that change one.
	Changes []string
	// Ends says what becomes of it when the authority has ended.
	Ends string
}

// Kinds lists all kinds of things that act later. Package verify/authority compares it with the code: each type that
// keeps an Authority has a row.
var Kinds = []Kind{
	{Name: "automation", Document: "pkg/area/automation.Record", Item: "automation",
		Acts: "makes content items, which may be published", Needs: []auth.Scope{auth.ContentWrite},
		Content: []string{"trigger", "template", "utm", "max_per_day"},
		Changes: []string{"createAutomation", "updateAutomation"},
		Ends:    "`failed` with `authority_ended`, and the event `automation.failed`"},
	{Name: "experiment", Document: "pkg/area/content/experiment.Record", Item: "experiment",
		Acts: "changes its factory as its result says, with auto_apply", Needs: []auth.Scope{auth.FactoriesWrite},
		Content: []string{"factors", "auto_apply"}, Changes: []string{"createExperiment"},
		Ends: "its result stays, and is applied by people alone"},
	{Name: "import", Document: "pkg/area/transfer.importRecord", Item: "import",
		Acts:  "creates the resources of an export, in states in which they do nothing",
		Needs: []auth.Scope{auth.AccountManage}, Changes: []string{"createImport"},
		Ends: "`failed` with `authority_ended`; what was imported stays"},
	{Name: "integration with a CRM", Document: "pkg/area/crm.Record", Item: "integration",
		Acts: "imports products and makes content items of deals", Needs: []auth.Scope{auth.AccountManage},
		Content: []string{"mapping", "factory_id", "sealed", "hook"},
		Changes: []string{"connectIntegration", "updateIntegration"},
		Ends:    "`needs_reconnect` with `authority_ended`, and the event `integration.needs_reconnect`"},
	{Name: "link to a social account", Document: "pkg/area/consent.Consent",
		Acts: "connects the account of whoever opens it", Needs: []auth.Scope{auth.SocialManage},
		Changes: []string{"connectSocialAccount"}, Ends: "the page answers 403, and nothing is connected"},
	{Name: "link to a CRM", Document: "pkg/area/consent.Consent",
		Acts: "connects the CRM of whoever opens it", Needs: []auth.Scope{auth.AccountManage},
		Changes: []string{"connectIntegration"}, Ends: "the page answers 403, and nothing is connected"},
	{Name: "review link", Document: "pkg/area/publishing.linkRecord", Item: "review_link",
		Acts: "shows content, and decides about it", Needs: []auth.Scope{auth.ContentRead, auth.ContentPublish},
		Content: []string{"content_item_ids", "factory_id", "may", "expires_at"},
		Changes: []string{"createReviewLink"}, Ends: "`expired`; the page answers 404"},
	{Name: "sign-on connection", Document: "pkg/record/connection.Connection",
		Acts: "lets people in with the roles of their groups; its set-up link lets the customer's IT set the provider",
		Ends: "a group gives no stronger role than who mapped it had; the set-up link is not valid any more; no " +
			"owner comes by a provider that no owner has confirmed"},
	{Name: "topic of a content plan", Document: "pkg/area/plan.chosen",
		Acts:    "becomes a content item before its time, which may be published",
		Needs:   []auth.Scope{auth.ContentPublish},
		Changes: []string{"createPlanTopic", "updatePlanTopic", "approvePlanTopics"},
		Ends:    "its item is made, and its publications fail as those of other items"},
	{Name: "publication", Document: "pkg/area/content/item.Outlets", Item: "content_item",
		Acts:  "is published at its time, after it is generated or after it is approved",
		Needs: []auth.Scope{auth.ContentPublish},
		Content: []string{"title", "caption", "hashtags", "variants", "slides", "script", "prompt",
			"social_account_ids", "publish_at"},
		Changes: []string{"createContentItem", "createContentItems", "createContentPlan", "updateContentItem",
			"regenerateContentItem", "scheduleContentItem", "publishContentItem", "approveContentItem",
			"bulkPublishing", "applyDraft"},
		Ends: "its publications fail with `authority_ended`, and the event `content.failed` if all do"},
}
