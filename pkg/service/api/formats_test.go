package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/httpapi"
)

// foreign are ids without a pattern, by schema and member: of other services, of several kinds, of the catalog.
var foreign = []string{
	"AuditActor.id", "AuditEntry.operation_id", "Avatar.id", "CommentAnswer.platform_comment_id",
	"ContentPreview.media_ids", "ContentSlide.media_id", "DossierFile.id",
	"BulkResult.content_item_id", "DossierModel.id", "DossierRule.id", "Draft.result_id",
	"FactoryRetirement.id", "ImportLeftOut.id", "IntegrationPipeline.id", "IntegrationStage.id", "LookupResult.id", "Media.id", "Model.id",
	"OperationServiceLevels.operation_id", "OwnMediaOurs.file_id", "Plan.id", "Voice.id",
	"SocialApplication.client_id", "WebhookDestination.external_id",
	"listAuditEntries.operation_id", "listEvents.object_id", "Quote.created_ids",
}

// Each id of the document says what it looks like, so that a new area cannot leave it out.
func TestIDsHavePatterns(t *testing.T) {
	doc := Document()
	left := slices.Clone(foreign)
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		is := member == "id" || strings.HasSuffix(strings.TrimSuffix(member, "s"), "_id")
		if !is || s.Type != huma.TypeString || s.Pattern != "" || len(s.Enum) > 0 || member == "request_id" ||
			member == "platform_post_id" {
			return
		}
		name := at + "." + member
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else if !slices.Contains(foreign, name) {
			t.Errorf("%s has no pattern: name its resource in pkg/base/id or in unlike", name)
		}
	})
	if len(left) > 0 {
		t.Errorf("these have patterns, or do not exist: %v", left)
	}
}

// A pattern says in words what it wants, because a refusal shows the words.
func TestPatternsHaveWords(t *testing.T) {
	n := 0
	eachSchema(router(httpapi.EmbeddedTexts()).OpenAPI(), func(at, member string, s *huma.Schema) {
		if n++; s.Pattern != "" && s.Pattern != format.OneLine && s.PatternDescription == "" {
			t.Errorf("%s.%s has the pattern %s without patternDescription", at, member, s.Pattern)
		}
	})
	if n < 1000 {
		t.Errorf("%d schemas", n)
	}
}

// A name that nobody has defined would check nothing.
func TestFormatsAreDefined(t *testing.T) {
	known := []string{"", "date", "date-time", "double", "float", "int32", "int64", "not-blank", "password", "short",
		"uri"}
	eachSchema(Document(), func(at, member string, s *huma.Schema) {
		if !slices.Contains(known, s.Format) {
			t.Errorf("%s.%s has the format %s: package format does not have it", at, member, s.Format)
		}
	})
}
