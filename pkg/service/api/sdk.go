package api

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/text"
)

// The members of an operation in the document that generators of clients read.
const (
	sdkResource   = "x-sdk-resource"
	sdkMethod     = "x-sdk-method"
	sdkPagination = "x-sdk-pagination"
	sdkWait       = "x-sdk-wait"
)

// resources are the names of resources in clients and the paths of their collections, where they do not follow from the
// tag.
var resources = map[string]struct{ name, collection string }{
	"Content":         {"content", "/v1/content-items"},
	"Social accounts": {"socialAccounts", "/v1/social/accounts"},
}

// methods are names in clients that do not follow from the path.
var methods = map[string]struct{ resource, method string }{
	"getMe":                 {"account", "get"},
	"createExport":          {"exports", "create"},
	"getExport":             {"exports", "get"},
	"listExports":           {"exports", "list"},
	"listImports":           {"imports", "list"},
	"listQuotes":            {"quotes", "list"},
	"createImport":          {"imports", "create"},
	"getImport":             {"imports", "get"},
	"setFeed":               {"feeds", "set"},
	"getFeed":               {"feeds", "get"},
	"deleteFeed":            {"feeds", "delete"},
	"syncFeed":              {"feeds", "sync"},
	"listFeedRuns":          {"feeds", "listRuns"},
	"getFeedRun":            {"feeds", "getRun"},
	"createContentItems":    {"content", "createBatch"},
	"createEstimate":        {"account", "estimate"},
	"createQuote":           {"quotes", "create"},
	"getQuote":              {"quotes", "get"},
	"resetSandbox":          {"sandbox", "reset"},
	"advanceSandbox":        {"sandbox", "advance"},
	"getFactoryAnalytics":   {"factories", "getAnalytics"},
	"getBestTimes":          {"analytics", "getBestTimes"},
	"listAccountMetrics":    {"analytics", "listAccountMetrics"},
	"importPosts":           {"analytics", "importPosts"},
	"getPostImport":         {"analytics", "getPostImport"},
	"listExperiments":       {"experiments", "list"},
	"createExperiment":      {"experiments", "create"},
	"getExperiment":         {"experiments", "get"},
	"updateExperiment":      {"experiments", "update"},
	"applyExperiment":       {"experiments", "apply"},
	"listExperimentPosts":   {"experiments", "listPosts"},
	"createPlanTopic":       {"planTopics", "create"},
	"getPlanTopic":          {"planTopics", "get"},
	"updatePlanTopic":       {"planTopics", "update"},
	"deletePlanTopic":       {"planTopics", "delete"},
	"approvePlanTopics":     {"planTopics", "approve"},
	"estimateGeneration":    {"studio", "estimate"},
	"addProductPhoto":       {"products", "addPhoto"},
	"deleteProductPhoto":    {"products", "deletePhoto"},
	"listApplications":      {"applications", "list"},
	"createApplication":     {"applications", "create"},
	"getApplication":        {"applications", "get"},
	"updateApplication":     {"applications", "update"},
	"deleteApplication":     {"applications", "delete"},
	"attachSocialAccount":   {"socialAccounts", "attach"},
	"detachSocialAccount":   {"socialAccounts", "detach"},
	"validatePublishing":    {"publishing", "validate"},
	"bulkPublishing":        {"publishing", "bulk"},
	"getCreatorInfo":        {"publishing", "getCreatorInfo"},
	"listLookups":           {"publishing", "listLookups"},
	"listAllPublications":   {"publications", "list"},
	"getPublication":        {"publications", "get"},
	"getPublicationDossier": {"publications", "getDossier"},
	"updatePublication":     {"publications", "update"},
	"deletePublication":     {"publications", "delete"},
	"approveContentItem":    {"approvals", "approve"},
	"requestChanges":        {"approvals", "requestChanges"},
	"replyToComment":        {"comments", "reply"},
	"listReviewLinks":       {"reviewLinks", "list"},
	"createReviewLink":      {"reviewLinks", "create"},
	"getReviewLink":         {"reviewLinks", "get"},
	"deleteReviewLink":      {"reviewLinks", "delete"},
}

// endStates are the states in which work has ended, by the operation that reads it. All other states are on the way.
var endStates = map[string]struct{ done, failed []string }{
	"getContentItem": {[]string{"generated", "scheduled", "published"}, []string{"failed", "canceled"}},
	"getContentPlan": {[]string{"completed", "proposed"}, []string{"failed", "canceled"}},
	"getDiagnosis":   {[]string{"completed"}, []string{"failed"}},
	"getTraining":    {[]string{"completed"}, []string{"failed", "canceled"}},
	"getGeneration":  {[]string{"generated"}, []string{"failed", "canceled"}},
	"getPostImport":  {[]string{"completed"}, []string{"failed"}},
	"getExport":      {[]string{"completed"}, []string{"failed"}},
	"getImport":      {[]string{"completed"}, []string{"failed"}},
	"getFeedRun":     {[]string{"completed", "held"}, []string{"failed"}},
	"getMedia":       {[]string{"ready"}, []string{"rejected"}},
}

// describeClients adds to each operation what clients need: its name there, how it is paged, and the states in which
// what it reads has ended.
func describeClients(doc *huma.OpenAPI) {
	for _, at := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[at]) {
			resource, method := clientName(o, at)
			more := map[string]any{sdkResource: resource, sdkMethod: method}
			if slices.ContainsFunc(o.Parameters, func(p *huma.Param) bool { return p.Name == "cursor" }) {
				more[sdkPagination] = map[string]string{"cursor": "cursor", "items": "data", "next": "next_cursor"}
			}
			if w, ok := endStates[o.OperationID]; ok {
				more[sdkWait] = map[string]any{"member": "state", "done": w.done, "failed": w.failed}
			}
			o.Extensions = maps.Clone(o.Extensions)
			maps.Copy(o.Extensions, more)
		}
	}
}

// clientName returns the resource and the method of an operation: the verb, if it acts on the collection of its tag or
// on an element of that, and otherwise the operation's id.
func clientName(o *huma.Operation, at string) (resource, method string) {
	if m, ok := methods[o.OperationID]; ok {
		return m.resource, m.method
	}
	tag := o.Tags[0]
	resource, collection := text.Camel(tag), "/v1/"+strings.ReplaceAll(strings.ToLower(tag), " ", "-")
	if r, ok := resources[tag]; ok {
		resource, collection = r.name, r.collection
	}
	verb := text.Words(o.OperationID)[0]
	rest, own := strings.CutPrefix(at, collection)
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if !own || rest != "" && rest[0] != '/' {
		return resource, o.OperationID
	}
	last, parameter := path.Base(rest), strings.HasPrefix(path.Base(rest), "{")
	switch {
	case rest == "" || len(parts) == 1 && parameter:
		return resource, verb
	case strings.HasPrefix(last, verb):
		if name := text.Camel(last); len(parts) <= 2 || name == o.OperationID {
			return resource, name
		}
	}
	return resource, o.OperationID
}
