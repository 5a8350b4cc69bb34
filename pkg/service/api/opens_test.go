package api

import (
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// outward are the kinds of what lets others in.
const outward = httpapi.Address | httpapi.Credential | httpapi.Copy | httpapi.Right

// taken are names of members of bodies by which an operation lets others in, and answered those of answers.
var (
	taken = regexp.MustCompile(`(?i)(^|_)(url|uri|link|destination|endpoint|host|domain|webhook|secret|token|password|` +
		`credentials?|scopes|role|role_arn|email|ip_allow_list|address|recipients?)s?$`)
	answered = regexp.MustCompile(`(?i)((^|_)(secret|token|password)|authorization_url|map_url|upload|parts/url)$`)
)

// The reasons why a member opens nothing.
const (
	readOnly = "the address is read, by the client that reaches no network of ours, and gets nothing of the account"
	shown    = "it is a text that a post or a product shows"
	oneFile  = "a signed address to which one file of the caller is put, within minutes"
	once     = "it is null: only the operation that makes it shows it"
	ownFact  = "a text about the factory, or the voice in which it speaks"
)

// reasons say why members open nothing, by their names or by their ends.
var reasons = map[string]string{
	"listExports → data/parts/url": "a list has no parts",
	"trigger/url":                  readOnly, "settings/sources/url": readOnly, "audio_url": readOnly, "image_url": readOnly,
	"video_url": readOnly, "source_url": readOnly,
	"pinterest/link": shown, "createProduct url": shown, "updateProduct url": shown,
	"settings/credentials": ownFact, "voice/address": ownFact,
	"→ authorization_url": once, "→ object/parts/url": once, "→ map_url": once, "→ upload": oneFile,
}

// reasonOf returns the reason of a member of an operation, and its name in the list.
func reasonOf(operation, at string) string {
	path, answer := strings.CutPrefix(at, "→ ")
	for name := range reasons {
		member, ofAnswer := strings.CutPrefix(name, "→ ")
		if operation+" "+at == name || answer == ofAnswer && strings.HasSuffix("/"+path, "/"+member) {
			return name
		}
	}
	return ""
}

// membersOf calls a function with the paths of all members of a schema.
func membersOf(doc *huma.OpenAPI, s *huma.Schema, path string, in []string, visit func(path string)) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		if !slices.Contains(in, name) {
			membersOf(doc, doc.Components.Schemas.Map()[name], path, append(slices.Clone(in), name), visit)
		}
		return
	}
	for _, one := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		membersOf(doc, one, path, in, visit)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		at := strings.TrimPrefix(path+"/"+name, "/")
		visit(at)
		membersOf(doc, s.Properties[name], at, in, visit)
	}
	membersOf(doc, s.Items, path, in, visit)
	if extra, ok := s.AdditionalProperties.(*huma.Schema); ok {
		membersOf(doc, extra, path, in, visit)
	}
}

// dataOf returns the member data of the answer 200 of an operation.
func dataOf(doc *huma.OpenAPI, o *huma.Operation) *huma.Schema {
	answer := path.Base(o.Responses["200"].Content[kind].Schema.Ref)
	return target(doc.Components.Schemas.Map(), answer).Properties["data"]
}

// eachOperation calls a function with all operations of a document.
func eachOperation(doc *huma.OpenAPI, visit func(*huma.Operation, httpapi.Route)) {
	for _, r := range Routes() {
		item := doc.Paths[r.Path]
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o != nil && o.OperationID == r.OperationID {
				visit(o, r)
			}
		}
	}
}

// Each operation says what it opens. What deletes, publishes and spends follows from its method, scope and errors.
func TestEveryOperationSaysWhatItOpens(t *testing.T) {
	const changesNothing = "validatePublishing"
	for _, r := range Routes() {
		o := r.Opens
		if o == 0 || o != httpapi.Nothing && o&httpapi.Nothing != 0 {
			t.Errorf("%s does not say what it opens", r.OperationID)
			continue
		}
		if r.Method == http.MethodDelete && !o.Has(httpapi.Deletion) {
			t.Errorf("%s opens no deletion", r.OperationID)
		}
		if r.Scope == auth.ContentPublish && r.Method != http.MethodGet && r.OperationID != changesNothing &&
			!o.Has(httpapi.Publishing) {
			t.Errorf("%s publishes nothing", r.OperationID)
		}
		if spends := slices.Contains(r.Errors, errs.InsufficientBalance); spends && !o.Has(httpapi.Spending) {
			t.Errorf("%s spends nothing, and may fail with insufficient_balance", r.OperationID)
		}
	}
}

// Whoever takes an address, a secret, scopes or a list of addresses, or answers a secret or a signed copy, opens it, or
// is in the list with its reason.
func TestWhatIsTakenAndAnsweredIsDeclared(t *testing.T) {
	doc, used := Document(), map[string]bool{}
	eachOperation(doc, func(o *huma.Operation, r httpapi.Route) {
		check := func(at string, opens httpapi.Opens) {
			switch reason := reasonOf(r.OperationID, at); {
			case r.Opens.Has(opens):
			case reason == "":
				t.Errorf("%s takes or answers %s, and opens %s", r.OperationID, at, r.Opens)
			default:
				used[reason] = true
			}
		}
		if o.RequestBody != nil {
			membersOf(doc, o.RequestBody.Content["application/json"].Schema, "", nil, func(at string) {
				if taken.MatchString(at[strings.LastIndex(at, "/")+1:]) {
					check(at, outward)
				}
			})
		}
		var success *huma.Response
		for code, response := range o.Responses {
			if strings.HasPrefix(code, "2") {
				success = response
			}
		}
		membersOf(doc, success.Content["application/json"].Schema, "", nil, func(at string) {
			if answered.MatchString(at) {
				check("→ "+at, httpapi.Credential|httpapi.Copy)
			}
		})
	})
	for key := range reasons {
		if !used[key] {
			t.Errorf("no operation needs the reason of %q", key)
		}
	}
}

// A copy of data needs the scopes that read all that is in it.
func TestB6ACopyNeedsTheScopesOfAllThatIsInIt(t *testing.T) {
	doc, readers := Document(), map[string]auth.Scope{}
	eachOperation(doc, func(o *huma.Operation, r httpapi.Route) {
		if r.Method != http.MethodGet {
			return
		}
		of := dataOf(doc, o)
		if of.Items != nil {
			of = of.Items
		}
		readers[strings.TrimPrefix(of.Ref, "#/components/schemas/")] = r.Scope
	})
	for _, r := range Routes() {
		if r.OperationID != "createExport" && r.OperationID != "getExport" {
			continue
		}
		has := append([]auth.Scope{r.Scope}, r.Also...)
		for _, kind := range transfer.Resources() {
			name := schema.SchemaName(kind.Type, "")
			switch scope, ok := readers[name]; {
			case !ok:
				t.Errorf("no operation reads %s, %s of an export", kind.Name, name)
			case !slices.Contains(has, scope):
				t.Errorf("%s needs no %s for %s", r.OperationID, scope, kind.Name)
			}
		}
	}
}
