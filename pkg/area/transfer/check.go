package transfer

import (
	"encoding"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	profilearea "github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// checkers check the resources of lines, by their types.
var checkers sync.Map

// checker returns the checker of a type. Its members may be absent, and there may be others: the line may be of an
// older or a newer version of the service.
func checker(t reflect.Type) *schema.Checker {
	if c, ok := checkers.Load(t); ok {
		return c.(*schema.Checker)
	}
	schemas := schema.NewRegistry()
	root := schemas.Schema(t, true, "")
	c := schema.NewChecker(schemas, root, false, schema.ResourceInfo{})
	for _, s := range schemas.Map() {
		loosen(s)
	}
	checkers.Store(t, c)
	return c
}

func loosen(s *huma.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	if s.AdditionalProperties == false {
		s.AdditionalProperties = nil
	}
	s.PrecomputeMessages()
	for _, m := range s.Properties {
		if m.Ref == "" {
			loosen(m)
		}
	}
}

// present returns a JSON value without members that are null.
func present(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = present(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, m any) bool { return m == nil })
		for name := range v {
			v[name] = present(v[name])
		}
	}
	return v
}

// parse checks the data of a line against the schema of its type, and returns it as a tree.
func parse(k exported, data []byte) (map[string]any, error) {
	parsed, err := jsontree.Parse(data)
	tree, ok := present(parsed).(map[string]any)
	switch e := errs.As(err); {
	case err != nil:
		return nil, errs.Wrap(err, e.Code, "%s", strings.Replace(e.Message, "The body", "data", 1))
	case !ok:
		return nil, errs.New(errs.MalformedJSON, "data is no JSON object.")
	}
	if faults := checker(k.of).Check(any(tree)); len(faults) > 0 {
		return nil, schema.Invalid(faults)
	}
	return tree, nil
}

// inputChecker checks the members of resources by the body of the operation that creates them.
type inputChecker struct {
	*schema.Checker
	root *huma.Schema
}

// inputCheckers are these checkers, by the types of bodies.
var inputCheckers sync.Map

// inputCheckerOf returns the checker of the body that creates resources of a type. Of its required members those are
// required that come in.
func inputCheckerOf(name string, t reflect.Type) inputChecker {
	if c, ok := inputCheckers.Load(t); ok {
		return c.(inputChecker)
	}
	schemas := schema.NewRegistry()
	root := *schemas.Schema(t, false, "")
	has := map[string]bool{}
	for _, m := range Members()[name] {
		member, _, _ := strings.Cut(strings.TrimPrefix(m.Path, "input."), ".")
		has[member] = m.Rule == ComesIn && member != "product_ids" // of a promotion they may all be deleted
	}
	root.Required = slices.DeleteFunc(slices.Clone(root.Required), func(name string) bool { return !has[name] })
	root.PrecomputeMessages()
	c := inputChecker{schema.NewChecker(schemas, &root, false, schema.ResourceInfo{}), &root}
	inputCheckers.Store(t, c)
	return c
}

// The bounds of whatever comes in, which are those of the longest texts and lists that the service itself makes. Many
// members have no others, because no operation takes them.
const (
	mostLetters = 20_000
	mostListed  = 1000
	longestName = 100
)

// refersTo returns the prefix of the ids that a member has, such as factory_id or product_ids/0.
func refersTo(at string) (prefix string, ok bool) {
	names := strings.Split(at, "/")
	name, one := strings.CutSuffix(names[len(names)-1], "_id")
	if !one && len(names) > 1 {
		name, one = strings.CutSuffix(names[len(names)-2], "_ids")
	}
	if !one {
		return "", false
	}
	return id.Prefix(name)
}

// checkText refuses a text that has an address that is none of the web, or something else in the place of an id.
func checkText(text, at string) error {
	isFile := strings.HasSuffix(at, "/media_id") && idForm().MatchString(text)
	if prefix, ok := refersTo(at); ok && !id.Valid(prefix, text) && !isFile {
		return errs.Invalid(at, "is no id that begins with %s_", prefix)
	}
	name := at[strings.LastIndexByte(at, '/')+1:]
	if u, err := url.Parse(text); (name == "url" || strings.HasSuffix(name, "_url")) && (err != nil ||
		u.Scheme != "" && u.Scheme != "https" && u.Scheme != "http" && !strings.HasPrefix(text, FileScheme)) {
		return errs.Invalid(at, "is no address of the web")
	}
	return nil
}

// checkBounds refuses a value at a place that is larger than what the service makes, or whose texts check refuses. The
// members of metadata have names and values of the caller, which are not checked.
func checkBounds(v any, at string, check func(text, at string) error) error {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > mostLetters {
			return errs.Invalid(at, "is too long: the longest length is %d", mostLetters)
		}
		return check(v, at)
	case []any:
		if len(v) > mostListed {
			return errs.Invalid(at, "has too many entries: the most are %d", mostListed)
		}
		for i := range v {
			if err := checkBounds(v[i], at+"/"+strconv.Itoa(i), check); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if utf8.RuneCountInString(name) > longestName {
				return errs.Invalid(at, "has a name that is longer than %d", longestName)
			}
			inside := check
			if at == "" && name == "metadata" {
				inside = func(_, _ string) error { return nil }
			}
			if err := checkBounds(v[name], at+"/"+jsontree.Escape(name), inside); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkInput checks the members of a resource that the operation which creates such a resource takes, too. A member
// that is empty counts as absent.
func checkInput(name string, tree map[string]any) error {
	in := inputs[name]
	sent := tree
	if name == "generation" {
		kind, _ := tree["kind"].(string)
		if in.of = studio.InputOf(provider.Kind(kind)); in.of == nil {
			return errs.Invalid("/kind", "is no kind of a generation")
		}
		sent = map[string]any{"model": tree["model"], "metadata": tree["metadata"]}
		given, _ := tree["input"].(map[string]any)
		maps.Copy(sent, given)
		for _, member := range slices.Sorted(maps.Keys(given)) {
			if !isEmpty(given[member]) && !slices.Contains(studio.Members()[provider.Kind(kind)], member) {
				return errs.Invalid("/input/"+jsontree.Escape(member), "is not for the kind %s", kind)
			}
		}
		in.rules = true
	}
	if in.of == nil {
		return nil
	}
	c, known := inputCheckerOf(name, in.of), map[string]any{}
	for member, v := range sent {
		isRequired := slices.Contains(c.root.Required, member)
		if c.root.Properties[member] != nil && !slices.Contains(in.renamedMembers, member) &&
			(!isEmpty(v) || isRequired && v != nil) {
			known[member] = withoutEmpty(v)
		}
	}
	body := c.Strip(known)
	faults := c.Check(body)
	if in.rules {
		faults = c.AddRules(in.of, body, faults)
	}
	if len(faults) > 0 {
		return schema.Invalid(faults)
	}
	return nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// withoutEmpty returns a value whose objects have no empty members.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = withoutEmpty(v[i])
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, member := range v {
			if !isEmpty(member) {
				all[name] = withoutEmpty(member)
			}
		}
		return all
	}
	return v
}

// Rule says what an import does with a member of a resource. An import is untrusted input: whoever has written its
// lines may say anything of what has happened elsewhere.
type Rule string

// The rules. What comes in is checked by the schema of the operation that creates such a resource.
const (
	ComesIn  Rule = "comes in"
	Computed Rule = "is computed anew" // of the file as it is read, of other members, or of where it comes to
	Reset    Rule = "is reset"
)

// Member is a member of a resource of a type, by its path: names of members, and * for any name.
type Member struct {
	Path string
	Rule Rule
	// list reports that it is a list that is never null.
	list bool
}

// sketch are the rules of a type of resource, as paths between spaces. A path that is computed or reset stands for all
// below it. What has no rule does not come in; a test finds it.
type sketch struct{ in, computed, reset string }

// common are the rules of members that all resources have.
var common = sketch{in: "id created_at metadata", computed: "updated_at version"}

func (k sketch) rules() map[string]Rule {
	all := map[string]Rule{}
	for _, one := range []sketch{common, k} {
		for rule, paths := range map[Rule]string{ComesIn: one.in, Computed: one.computed, Reset: one.reset} {
			for path := range strings.FieldsSeq(paths) {
				all[path] = rule
			}
		}
	}
	return all
}

// Members returns the members of the types of resources that imports take, by the names of the types. A member without
// a rule has an empty one.
func Members() map[string][]Member {
	all := map[string][]Member{}
	for _, k := range kinds {
		if takers[k.name] != nil {
			all[k.name] = membersOfKind(k)
		}
	}
	return all
}

func membersOfKind(k exported) []Member { return membersOf(k.of, sketches[k.name].rules()) }

// Unknown returns the rules of a type that none of its members has.
func Unknown(name string) (paths []string) {
	rules := sketches[name].rules()
	maps.DeleteFunc(rules, func(path string, _ Rule) bool { // a feed has neither
		return name == "feed" && (path == "id" || path == "metadata")
	})
	for _, m := range Members()[name] {
		delete(rules, m.Path)
	}
	return slices.Sorted(maps.Keys(rules))
}

// membersOf returns the members of a type, down to those with a rule of their own or without further members.
func membersOf(t reflect.Type, rules map[string]Rule) (all []Member) {
	var walk func(t reflect.Type, at string)
	walk = func(t reflect.Type, at string) {
		for f := range fields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			path := strings.TrimPrefix(at+"."+name, ".")
			inner, suffix := elem(f.Type)
			rule := rules[path]
			if rule == "" && inner != nil {
				walk(inner, path+suffix)
				continue
			}
			all = append(all, Member{path, rule, f.Type.Kind() == reflect.Slice && f.Tag.Get("nullable") == "false"})
		}
	}
	walk(t, "")
	return all
}

// fields returns the members of a struct, with those of embedded ones, by their names.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && f.IsExported() {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// elem returns the struct that a member has, or lists, or has by names, and what its path continues with; or nil.
func elem(t reflect.Type) (inner reflect.Type, suffix string) {
	for {
		if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
			reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return nil, ""
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			t = t.Elem()
		case reflect.Map:
			t, suffix = t.Elem(), suffix+".*"
		case reflect.Struct:
			return t, suffix
		default:
			return nil, ""
		}
	}
}

// admit returns a resource of a line with the members that come in. Lists that are never null are empty.
func admit(tree map[string]any, members []Member) map[string]any {
	in := map[string]Member{}
	for _, m := range members {
		in[m.Path] = m
	}
	out, _ := admitted(tree, "", in).(map[string]any)
	for _, m := range members {
		if _, there := out[m.Path]; m.list && !there && !strings.Contains(m.Path, ".") {
			out[m.Path] = []any{}
		}
	}
	return out
}

func admitted(v any, at string, in map[string]Member) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = admitted(v[i], at, in)
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, value := range v {
			path := strings.TrimPrefix(at+"."+name, ".")
			if any := at + ".*"; isBelow(any, in) {
				path = any
			}
			switch m, known := in[path]; {
			case known && m.Rule == ComesIn:
				all[name] = value
			case !known && isBelow(path, in):
				all[name] = admitted(value, path, in)
			}
		}
		return all
	}
	return nil // a plain value in the place of an object
}

// isBelow reports whether there are members below a path.
func isBelow(path string, in map[string]Member) bool {
	for known := range in {
		if strings.HasPrefix(known, path+".") || known == path && strings.HasSuffix(path, "*") {
			return true
		}
	}
	return false
}

// sketches are the rules of the types of resources that imports take. What says that somebody has approved, published,
// paid or measured something is of the other account, and nobody here can check it.
var sketches = map[string]sketch{
	"profile": {
		in: "name spend_limit_credits quote_required_above_credits region ad_marking.advertiser ad_marking.tax_id " +
			"ad_marking.erid",
		reset: "logo template_id",
	},
	"media": {
		in: "url",
		computed: "profile_id type mime_type bytes sha256 width height duration_seconds state thumbnail_url " +
			"expires_at",
		reset: "source_url reason upload",
	},
	"template": {in: "name design", computed: "profile_id", reset: "preview used_by"},
	"factory": {
		in: "type name language description audience tone topics content_types models replace_retired_models " +
			"ai_caption_line schedule.timezone schedule.times schedule.weekdays schedule.silent_days approval " +
			"plan_approve quality visuals music duration_seconds settings template_id region ad_marking.advertiser " +
			"ad_marking.tax_id ad_marking.erid state",
		computed: "profile_id social_account_ids",
		reset:    "auto_publish",
	},
	"product": {
		in: "factory_id sku name description price.amount price.currency url attributes availability state in_feed " +
			"photos.id photos.created_at photos.url photos.source_url",
		computed: "photos.product_id photos.state photos.mime_type photos.bytes photos.width photos.height",
		reset:    "photos.reason photos.upload price_history feed_changes",
	},
	"promotion": {
		in: "factory_id product_ids name discount.kind discount.value starts_at ends_at message prior_price.amount " +
			"prior_price.currency prior_price_exception.reason from_feed",
		computed: "state prior_prices",
	},
	"feed": {
		in: "factory_id source.url source.media_id format mapping currency on_price_change on_sold_out " +
			"on_removed remake_per_day photos",
		computed: "state next_run_at",
		reset:    "schedule daily_time last_run",
	},
	"experiment": {
		in: "factory_id question factors.name factors.arms metric.name metric.platform metric.after_hours " +
			"budget.posts budget.credits budget.days stopping.alpha stopping.min_effect " +
			"stopping.design",
		computed: "profile_id state ended_at",
		reset:    "auto_apply started_at posts used_credits needed_posts results winners proposal_id",
	},
	"content_plan": {
		in: "factory_id days posts_per_day content_types starts_on timezone country brief product_ids pillars.name " +
			"pillars.weight campaigns.name campaigns.about campaigns.item_count campaigns.starts_on " +
			"campaigns.ends_on weekdays silent_days visuals music duration_seconds product_share quality approve " +
			"write_ahead_hours calendar.number calendar.content_item_id calendar.content_type calendar.publish_at " +
			"calendar.topic calendar.pillar calendar.angle calendar.hook calendar.goal calendar.occasion " +
			"calendar.campaign calendar.product_id calendar.state state failure.code failure.message",
		computed: "calendar.content_plan_id calendar.created_at calendar.updated_at calendar.version items " +
			"completed_at",
		reset: "experiment_id learned cost_estimate reserved_credits cost_credits quote_id rehearsal",
	},
	"content_item": {
		in: "factory_id kind source fit format prompt script scenes.text scenes.visual scenes.on_screen " +
			"duration_seconds visuals music cover aspect_ratio clip_seconds voice ad_marking.advertiser " +
			"ad_marking.tax_id ad_marking.erid deep_fake title headline caption hashtags quality warnings.code " +
			"warnings.message warnings.facts.member warnings.facts.ask hooks hook_kind variants.*.title " +
			"variants.*.caption variants.*.hashtags variants.*.media variants.*.cover language model media.id " +
			"media.role media.url media.alt_text slides.text slides.body slides.media_id product_id promotion_id " +
			"from_content_item_id from_parts content_plan_id sources.title sources.url sources.published_at " +
			"failure.stage failure.code failure.message failure.retryable generated_at",
		computed: "ai_generated labelled media.type media.mime_type media.thumbnail_url media.width media.height " +
			"media.duration_seconds media.bytes media.sha256 media.provenance previews approval waits_for state " +
			"progress attempt expires_at",
		reset: "prompt_version variants.*.adapted variants.*.prompt_version from_parts_prompt_version experiment " +
			"publish_at social_account_ids omitted_accounts outdated remake.credits remake.reason remake.message " +
			"publications rehearsal reserved_credits cost_credits " +
			"cancel_cost_credits published_at",
	},
	"generation": {
		in: "kind model input.prompt input.text input.aspect_ratio input.duration_seconds input.count input.language " +
			"input.voice input.avatar input.lyrics input.image_url input.audio_url input.video_url state media.id " +
			"media.url media.alt_text failure.code failure.message failure.retryable",
		computed: "profile_id progress media.role media.type media.mime_type media.thumbnail_url media.width " +
			"media.height media.duration_seconds media.bytes media.sha256 media.provenance expires_at",
		reset: "reserved_credits cost_credits",
	},
	"automation": {
		in: "factory_id trigger.kind trigger.url trigger.cron template max_per_day utm.source utm.medium " +
			"utm.campaign utm.term utm.content",
		computed: "profile_id created_by state",
		reset:    "failure last_run runs rehearsal",
	},
	"webhook": {
		in:       "url event_types factory_ids fields description",
		computed: "profile_id created_by state disabled_reason",
		reset:    "destination failing_since last_success_at latency_ms",
	},
}

// input is the body of the operation that creates a resource of a type.
type input struct {
	of reflect.Type
	// rules reports that its rules over several members hold for resources as well.
	rules bool
	// renamedMembers are the members that have another form there.
	renamedMembers []string
}

// inputs are these bodies. Those of the studio differ by the kind of the generation, and a media has none.
var inputs = map[string]input{
	"profile":      {of: profilearea.Input},
	"template":     {of: template.Input},
	"factory":      {of: factory.Input, rules: true},
	"product":      {of: product.Input, rules: true},
	"promotion":    {of: product.PromotionInput, rules: true},
	"feed":         {of: feed.Input, rules: true},
	"experiment":   {of: experiment.Input, rules: true},
	"content_plan": {of: plan.Input},
	"content_item": {of: content.Input, renamedMembers: []string{"media"}},
	"automation":   {of: automation.Input},
	"webhook":      {of: webhook.Input},
}
