package transfer

import (
	"reflect"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	profilearea "github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/webhook"
)

// sketches are the rules of the types of resources that imports take. What says that somebody has approved, published,
// paid or measured something is of the other account, and nobody here can check it.
var sketches = map[string]sketch{
	"profile": {
		in: "name spend_limit_credits quote_required_above_credits region ad_marking.advertiser ad_marking.tax_id " +
			"ad_marking.erid",
		reset: "logo",
	},
	"media": {
		in: "url",
		computed: "profile_id type mime_type bytes sha256 width height duration_seconds state thumbnail_url " +
			"expires_at",
		reset: "source_url reason upload",
	},
	"factory": {
		in: "type name language description audience tone topics content_types models replace_retired_models " +
			"ai_caption_line schedule.timezone schedule.times approval plan_approve quality settings region " +
			"ad_marking.advertiser ad_marking.tax_id ad_marking.erid state",
		computed: "profile_id social_account_ids",
		reset:    "auto_publish",
	},
	"product": {
		in: "factory_id sku name description price.amount price.currency url attributes state photos.id " +
			"photos.created_at photos.url",
		computed: "photos.product_id photos.state photos.mime_type photos.bytes photos.width photos.height",
		reset:    "photos.reason photos.source_url photos.upload price_history",
	},
	"promotion": {
		in: "factory_id product_ids name discount.kind discount.value starts_at ends_at message prior_price.amount " +
			"prior_price.currency prior_price_exception.reason",
		computed: "state prior_prices",
	},
	"experiment": {
		in: "factory_id question factors.name factors.arms metric.name metric.platform metric.after_hours " +
			"budget.posts budget.credits budget.days stopping.alpha stopping.min_effect",
		computed: "profile_id state ended_at",
		reset:    "auto_apply started_at posts used_credits needed_posts results winners proposal_id",
	},
	"content_plan": {
		in: "factory_id days posts_per_day content_types starts_on timezone country brief product_ids pillars.name " +
			"pillars.weight campaigns.name campaigns.about campaigns.item_count campaigns.starts_on campaigns.ends_on " +
			"product_share quality approve write_ahead_hours calendar.number calendar.content_item_id " +
			"calendar.content_type calendar.publish_at calendar.topic calendar.pillar calendar.angle calendar.hook " +
			"calendar.goal calendar.occasion calendar.campaign calendar.product_id calendar.state state " +
			"failure.code failure.message",
		computed: "calendar.content_plan_id calendar.created_at calendar.updated_at calendar.version items completed_at",
		reset:    "experiment_id learned cost_estimate reserved_credits cost_credits quote_id rehearsal",
	},
	"content_item": {
		in: "factory_id kind source fit format prompt script scenes.text scenes.visual scenes.on_screen " +
			"duration_seconds visuals music cover aspect_ratio clip_seconds voice ad_marking.advertiser ad_marking.tax_id " +
			"ad_marking.erid deep_fake title headline caption hashtags quality warnings.code warnings.message " +
			"warnings.facts.member warnings.facts.ask hooks hook_kind variants.*.title variants.*.caption " +
			"variants.*.hashtags variants.*.media variants.*.cover language model media.id media.role media.url " +
			"media.alt_text slides.text slides.body slides.media_id product_id promotion_id from_content_item_id " +
			"from_parts content_plan_id sources.title sources.url sources.published_at failure.stage failure.code " +
			"failure.message failure.retryable generated_at",
		computed: "ai_generated labelled media.type media.mime_type media.thumbnail_url media.width media.height " +
			"media.duration_seconds media.bytes media.sha256 media.provenance previews approval waits_for state " +
			"progress attempt expires_at",
		reset: "prompt_version variants.*.adapted variants.*.prompt_version from_parts_prompt_version experiment " +
			"publish_at social_account_ids omitted_accounts publications rehearsal reserved_credits cost_credits " +
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
	// other are the members that have another form there.
	other []string
}

// inputs are these bodies. Those of the studio differ by the kind of the generation, and a media has none.
var inputs = map[string]input{
	"profile":      {of: profilearea.Input},
	"factory":      {of: factory.Input, rules: true},
	"product":      {of: product.Input, rules: true},
	"promotion":    {of: product.PromotionInput, rules: true},
	"experiment":   {of: experiment.Input},
	"content_plan": {of: plan.Input},
	"content_item": {of: content.Input, other: []string{"media"}},
	"automation":   {of: automation.Input},
	"webhook":      {of: webhook.Input},
}
