package api

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// unlike are members whose name does not tell whose ids they have, by schema and member: the resource, or nothing for
// ids of other services, and for ids of several kinds.
var unlike = map[string]string{
	"ApiKeyMandate.id": "", "AuditActor.id": "", "BalanceEntry.id": "ledger_entry", "CallingKey.id": "api_key",
	"Comment.parent_id": "comment", "CommentAnswer.platform_comment_id": "", "ContentPreview.media_ids": "",
	"ContentSlide.media_id": "", "listEvents.object_id": "", "LookupResult.id": "",
	"Draft.result_id": "", "IntegrationPipeline.id": "", "IntegrationStage.id": "", "OwnMedia.id": "media",
	"OwnMediaOurs.file_id": "", "BulkResult.content_item_id": "",
	"PersonInvited.id": "person", "ProductPhoto.id": "photo", "PublishedPost.id": "publication",
	"PublishingEntry.id": "publication", "Quote.created_ids": "", "SocialAccount.connected_as": "social_account",
	"SocialApplication.id": "application", "SocialApplication.client_id": "",
	"SocialConnecting.connected_as": "social_account", "SocialConnecting.id": "social_account", "Voice.id": "",
	"ImportLeftOut.id": "",
}

// taxID is the pattern of a taxpayer number.
const taxID = "^([0-9]{10}|[0-9]{12})$"

// patterns are the patterns of other texts, by schema and member.
var patterns = map[string]string{
	"ApiKeyMandate.id":         "^key_[0-7][0-9a-z]{25}:[0-9]+$",
	"ApiKeyWithSecret.secret":  "^svc_(live|test)_[0-9A-Za-z]{49}$",
	"WebhookWithSecret.secret": "^whsec_[0-9A-Za-z+/]{43}=$",
	"Media.sha256":             "^[0-9a-f]{64}$",
	"AdMarking.tax_id":         taxID,
	"AdMarkingInput.tax_id":    taxID,
	"AdMarkingPatch.tax_id":    taxID,
}

// addresses are the members that contain only URLs.
var addresses = []string{"url", "doc_url", "avatar_url", "authorization_url", "sample_url", "preview_url", "source_url"}

// describeFormats adds patterns and formats to texts. The service answers 404 for a path with a malformed id, so the
// patterns of ids only inform readers and generators.
func describeFormats(doc *huma.OpenAPI) {
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		schema.Fill(s)
		s.PatternDescription = "" // huma's own word
		if s.Type != huma.TypeString || s.Pattern != "" || len(s.Enum) > 0 {
			return
		}
		prefix, isID := idOf(at, member, s)
		switch {
		case isID:
			s.Pattern = id.Pattern(prefix)
		case slices.Contains(addresses, member) && s.Format == "":
			s.Format = "uri"
		default:
			s.Pattern = patterns[at+"."+member]
		}
	})
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[path]) {
			for _, p := range o.Parameters {
				describeParameter(p)
			}
		}
	}
	doc.Components.Headers["ETag"].Schema.Pattern = `^"[^"]*"$`
}

// day is the pattern of a day.
const day = `^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`

// describeParameter says what the service refuses of a parameter: an empty value, or one of another form.
func describeParameter(p *huma.Param) {
	s, one := p.Schema, 1
	switch {
	case strings.EqualFold(p.Name, "If-Match"):
		s.Pattern = `^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`
	case p.In != "query":
	case s.Type == huma.TypeArray:
		s.MinItems = &one
	case s.Type != huma.TypeString || s.Format != "" || s.Pattern != "" || len(s.Enum) > 0:
	case p.Name == "from" || p.Name == "to":
		s.Pattern = day
	default:
		s.MinLength = &one
	}
}

// textPattern is the pattern of texts of several lines, by the characters that the service takes in no text.
const textPattern = `^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]*$`

// describeTexts says of the texts in requests, and of the names of pairs, which characters they cannot have.
func describeTexts(doc *huma.OpenAPI) {
	var bodies []*huma.Schema
	for _, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			if o.RequestBody != nil {
				bodies = append(bodies, schemasOf(o.RequestBody.Content)...)
			}
		}
	}
	for s := range reached(doc.Components.Schemas.Map(), bodies) {
		plainNames(s)
		plain(s)
	}
}

// plainNames says which characters the names of pairs cannot have. Where a value may be anything, it says it of the
// names of an object in it, too.
func plainNames(s *huma.Schema) {
	values, free := s.AdditionalProperties.(*huma.Schema)
	name, ok := s.Extensions[schema.PropertyNames].(*huma.Schema)
	if !free && !ok {
		return
	}
	if !ok {
		name = &huma.Schema{Type: huma.TypeString}
		s.Extensions = maps.Clone(s.Extensions)
		if s.Extensions == nil {
			s.Extensions = map[string]any{}
		}
		s.Extensions[schema.PropertyNames] = name
	}
	plain(name)
	if free && values.Type == "" && values.Ref == "" && len(values.AnyOf) == 0 && len(values.OneOf) == 0 {
		values.Extensions = map[string]any{schema.PropertyNames: name}
	}
}

// plain adds what a text cannot have to its pattern.
func plain(s *huma.Schema) {
	switch {
	case s.Type != huma.TypeString || len(s.Enum) > 0:
	case s.Pattern == "" && (s.Format == "" || s.Format == format.NotBlank):
		s.Pattern = textPattern
	default:
		s.Pattern = strings.ReplaceAll(s.Pattern, `\x7F]`, `\x7F-\x9F]`)
	}
	notBlank(s)
}

// notBlank has the pattern of a text that must not be blank ask for one character that is no space.
func notBlank(s *huma.Schema) {
	needed := s.MinLength != nil && *s.MinLength > 0
	chars, ok := strings.CutPrefix(s.Pattern, "^[^")
	if !ok || !needed && s.Format != format.NotBlank {
		return
	}
	chars, ok = strings.CutSuffix(chars, `\x9F]*$`)
	if !ok || strings.Contains(chars, "]") {
		return
	}
	other := "[^" + chars + `\x9F]*`
	s.Format, s.Pattern = "", other+`[^\x00-\x20\x7F-\xA0]`+other
	if !needed {
		s.Pattern = "(" + s.Pattern + ")?"
	} else if *s.MinLength == 1 {
		s.MinLength = nil // the pattern says it
	}
	s.Pattern = "^" + s.Pattern + "$"
}

// idOf returns the prefix of the ids of a member or parameter. An example shows it; without one, …_id and …_ids end
// with the resource, and for id it is the resource that the name of the schema begins with. It returns false if these
// are no ids of ours.
func idOf(schema, member string, s *huma.Schema) (prefix string, ok bool) {
	if of, listed := unlike[schema+"."+member]; listed {
		return id.Prefix(of)
	}
	name, is := strings.CutSuffix(strings.TrimSuffix(member, "s"), "_id")
	if !is && member != "id" {
		return "", false
	}
	for _, example := range s.Examples {
		text, _ := example.(string)
		return id.PrefixOf(text)
	}
	for is && !ok {
		prefix, ok = id.Prefix(name)
		_, name, is = strings.Cut(name, "_")
	}
	words := strings.Split(snake(schema), "_")
	for n := len(words); member == "id" && n > 0 && !ok; n-- {
		prefix, ok = id.Prefix(strings.Join(words[:n], "_"))
	}
	return prefix, ok
}

// snake returns a name in the form of members: ContentItem is content_item.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
