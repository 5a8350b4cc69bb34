package fal

import "github.com/content-automation/api/pkg/adapter/provider"

// models are the models of the catalog, by their endpoint, with the members that each takes, from the published schema
// of the endpoint. A member that a model does not know is an error there (flux-2-pro, for example, has no
// guidance_scale), so only members in its row are sent.
var models = map[string]model{
	// Images. Models that charge by the megapixel, or that have no ratios of their own, get a size.
	"fal-ai/flux/schnell":                        sized(1, "num_images"),
	"fal-ai/flux-pro/v1.1":                       sized(1, "num_images"),
	"fal-ai/flux-2-pro":                          sized(2, ""),
	"fal-ai/recraft/v3/text-to-image":            sized(1, ""),
	"fal-ai/ideogram/v3":                         sized(1, "num_images"),
	"openai/gpt-image-2":                         sized(1, "num_images"),
	"openai/gpt-image-2.5/flare/text-to-image":   sized(1, "num_images"),
	"fal-ai/bytedance/seedream/v4/text-to-image": sized(4, "num_images"),
	"fal-ai/qwen-image":                          sized(1, "num_images"),
	"fal-ai/nano-banana":                         shaped(member{}, false),
	"fal-ai/nano-banana-2":                       shaped(member{}, false),
	"fal-ai/nano-banana-pro":                     shaped(member{}, false),
	"google/nano-banana-2.1":                     shaped(member{}, false),
	"fal-ai/flux-pro/v1.1-ultra":                 shaped(may("image_url"), false),
	"fal-ai/flux-pro/kontext":                    shaped(must("image_url"), true),

	// Videos. The length is a number in one family, a text in another, and a text with its unit in a third.
	"fal-ai/veo3.1":      film("aspect_ratio", asTextWithUnit),
	"fal-ai/veo3.1/lite": film("aspect_ratio", asTextWithUnit),
	"fal-ai/kling-video/v3/turbo/pro/text-to-video":      film("aspect_ratio", asText),
	"fal-ai/kling-video/v3/turbo/standard/text-to-video": film("aspect_ratio", asText),
	"kling/v4/text-to-video":                             film("aspect_ratio", asNumber),
	"minimax/h3/text-to-video":                           film("aspect_ratio", asNumber),
	"bytedance/seedance-2.0/text-to-video":               film("aspect_ratio", asText),
	"fal-ai/wan-25-preview/text-to-video":                film("aspect_ratio", asText).limited("prompt", 1, 1500),

	// Videos that start from a picture. The picture determines the shape, except for Ray 2.
	"fal-ai/kling-video/v2.5-turbo/pro/image-to-video": film("", asText).from("image_url"),
	"fal-ai/kling-video/v2.6/pro/image-to-video":       film("", asText).from("start_image_url"),

	// Music.
	"fal-ai/ace-step/prompt-to-audio":      music(duration{"duration", asNumber}),
	"fal-ai/stable-audio-25/text-to-audio": music(duration{"seconds_total", asNumber}),
	"fal-ai/minimax-music/v2":              song(),

	// Speech. By default, MiniMax returns the sound in hexadecimal.
	"fal-ai/elevenlabs/text-to-dialogue/eleven-v3": {kind: provider.KindVoice, finish: dialogue},
	"fal-ai/minimax/speech-2.8-hd":                 speech("prompt", 10000),

	// Avatars.
	"fal-ai/heygen/avatar4/image-to-video": {
		kind: provider.KindAvatar, prompt: may("prompt"), ratio: "aspect_ratio", image: must("image_url"),
		audio: may("audio_url"), voice: "voice",
	},
	"fal-ai/bytedance/omnihuman/v1.5": {kind: provider.KindAvatar, image: must("image_url"),
		audio: must("audio_url")},
	"fal-ai/ai-avatar/multi-text": {
		kind: provider.KindAvatar, image: must("image_url"), voice: "voice1", finish: twoSpeakers,
		fixed: map[string]any{"prompt": "Two people talk to each other, calm and natural."},
	},
	"veed/avatars/text-to-video": {
		kind: provider.KindAvatar, prompt: must("text"), avatar: "avatar_id",
		fixed: map[string]any{"avatar_id": "any_female_vertical_primary"},
	},
}

// sized returns an image model that takes a size.
func sized(megapixels int, count string) model {
	return model{kind: provider.KindImage, prompt: must("prompt"), megapixels: megapixels, count: count}
}

// shaped returns an image model that takes an aspect ratio.
func shaped(image member, keepsShape bool) model {
	return model{
		kind: provider.KindImage, prompt: must("prompt"), ratio: "aspect_ratio", keepsShape: keepsShape,
		count: "num_images", image: image,
	}
}

func film(ratio string, as func(int) any) model {
	m := model{kind: provider.KindVideo, prompt: must("prompt"), ratio: ratio}
	if as != nil {
		m.length = duration{"duration", as}
	}
	return m
}

// from makes a model start from a picture.
func (m model) from(image string) model {
	m.image = must(image)
	return m
}

// limited bounds the characters of a member.
func (m model) limited(name string, least, most int) model {
	m.limits = map[string][2]int{name: {least, most}}
	return m
}

// music returns a model of instrumental music from a prompt.
func music(length duration) model {
	return model{kind: provider.KindMusic, prompt: must("prompt"), length: length}
}

func song() model {
	return model{
		kind: provider.KindMusic, prompt: must("prompt"), lyrics: must("lyrics_prompt"),
		limits: map[string][2]int{"prompt": {10, 300}, "lyrics_prompt": {10, 3000}},
	}
}

// speech returns a model of MiniMax that reads a text out.
func speech(text string, most int) model {
	return model{
		kind: provider.KindVoice, prompt: must(text), finish: boost,
		fixed: map[string]any{"output_format": "url"}, limits: map[string][2]int{text: {1, most}},
	}
}
