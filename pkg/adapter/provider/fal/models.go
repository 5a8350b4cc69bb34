package fal

import "github.com/content-automation/api/pkg/adapter/provider"

// models are the models of the catalog, by their endpoint, with the members that each takes, from the published schema
// of the endpoint. A member that a model does not know is an error there (flux-2-pro, for example, has no
// guidance_scale), so only members in its row are sent.
var models = map[string]model{
	// Images. Models that charge by the megapixel, or that have no ratios of their own, get a size.
	"fal-ai/flux/schnell":                        sized(1, "num_images"),
	"fal-ai/flux/dev":                            sized(1, "num_images"),
	"fal-ai/flux-pro/v1.1":                       sized(1, "num_images"),
	"fal-ai/flux-2-pro":                          sized(2, ""),
	"fal-ai/recraft/v3/text-to-image":            sized(1, ""),
	"fal-ai/ideogram/v3":                         sized(1, "num_images"),
	"openai/gpt-image-2":                         sized(1, "num_images"),
	"fal-ai/bytedance/seedream/v4/text-to-image": sized(4, "num_images"),
	"fal-ai/qwen-image":                          sized(1, "num_images"),
	"fal-ai/nano-banana":                         shaped(member{}, false),
	"fal-ai/nano-banana-2":                       shaped(member{}, false),
	"fal-ai/nano-banana-pro":                     shaped(member{}, false),
	"fal-ai/flux-pro/v1.1-ultra":                 shaped(may("image_url"), false),
	"fal-ai/flux-pro/kontext":                    shaped(must("image_url"), true),

	// Videos. The length is a number in one family, a text in another, and a text with its unit in a third.
	"fal-ai/veo3.1":      film("aspect_ratio", asTextWithUnit),
	"fal-ai/veo3.1/fast": film("aspect_ratio", asTextWithUnit),
	"fal-ai/kling-video/v2/master/text-to-video":      film("aspect_ratio", asText),
	"fal-ai/kling-video/v3/turbo/pro/text-to-video":   film("aspect_ratio", asText),
	"minimax/h3/text-to-video":                        film("aspect_ratio", asNumber),
	"fal-ai/minimax/hailuo-02/standard/text-to-video": film("", asText),
	"bytedance/seedance-2.0/text-to-video":            film("aspect_ratio", asText),
	"fal-ai/pixverse/v5/text-to-video":                film("aspect_ratio", asText),
	"fal-ai/wan-25-preview/text-to-video":             film("aspect_ratio", asText).limited("prompt", 1, 1500),
	"fal-ai/ovi":                                      film("", nil),

	// Videos that start from a picture. The picture determines the shape, except for Ray 2.
	"fal-ai/kling-video/v2.1/pro/image-to-video":            film("", asText).from("image_url"),
	"fal-ai/kling-video/v2.5-turbo/standard/image-to-video": film("", asText).from("image_url"),
	"fal-ai/kling-video/v2.5-turbo/pro/image-to-video":      film("", asText).from("image_url"),
	"fal-ai/kling-video/v2.6/pro/image-to-video":            film("", asText).from("start_image_url"),
	"fal-ai/luma-dream-machine/ray-2/image-to-video":        film("aspect_ratio", asTextWithUnit).from("image_url"),

	// Music.
	"fal-ai/ace-step/prompt-to-audio":      music(duration{"duration", asNumber}),
	"fal-ai/stable-audio-25/text-to-audio": music(duration{"seconds_total", asNumber}),
	"fal-ai/lyria2":                        music(duration{}),
	"fal-ai/elevenlabs/music":              music(duration{"music_length_ms", asMilliseconds}),
	"sonilo/v1.1/text-to-music":            music(duration{"duration", asNumber}),
	"fal-ai/minimax-music/v1.5":            song(),
	"fal-ai/minimax-music/v2":              song(),

	// Speech. By default, MiniMax returns the sound in hexadecimal.
	"fal-ai/elevenlabs/text-to-dialogue/eleven-v3": {kind: provider.KindVoice, finish: dialogue},
	"fal-ai/minimax/speech-02-turbo":               speech("text", 5000),
	"fal-ai/minimax/speech-2.8-hd":                 speech("prompt", 10000),
	"fal-ai/f5-tts": {
		kind: provider.KindVoice, prompt: must("gen_text"), audio: must("ref_audio_url"),
		fixed: map[string]any{"model_type": "F5-TTS"}, limits: map[string][2]int{"gen_text": {1, 5000}},
	},

	// Avatars.
	"fal-ai/heygen/avatar4/image-to-video": {
		kind: provider.KindAvatar, prompt: may("prompt"), ratio: "aspect_ratio", image: must("image_url"),
		audio: may("audio_url"), voice: "voice",
	},
	"fal-ai/bytedance/omnihuman/v1.5": {kind: provider.KindAvatar, image: must("image_url"),
		audio: must("audio_url")},
	"fal-ai/kling-video/ai-avatar/v2/pro": {kind: provider.KindAvatar, image: must("image_url"),
		audio: must("audio_url")},
	"veed/fabric-1.0": {kind: provider.KindAvatar, image: must("image_url"),
		audio: must("audio_url")},
	"fal-ai/sync-lipsync/v2": {kind: provider.KindAvatar, video: must("video_url"),
		audio: must("audio_url")},
	"fal-ai/ai-avatar/multi-text": {
		kind: provider.KindAvatar, image: must("image_url"), voice: "voice1", finish: twoSpeakers,
		fixed: map[string]any{"prompt": "Two people talk to each other, calm and natural."},
	},
	"fal-ai/ai-avatar/single-text": {
		kind: provider.KindAvatar, prompt: must("text_input"), image: must("image_url"), voice: "voice",
		fixed: map[string]any{"prompt": "A person talks to the camera, calm and natural.", "voice": "Sarah"},
	},
	"veed/avatars/text-to-video": {
		kind: provider.KindAvatar, prompt: must("text"), avatar: "avatar_id",
		fixed: map[string]any{"avatar_id": "any_female_vertical_primary"},
	},
	"argil/avatars/text-to-video": {
		kind: provider.KindAvatar, prompt: must("text"), avatar: "avatar", voice: "voice",
		fixed: map[string]any{"avatar": "Mia outdoor (UGC)", "voice": "Rachel"},
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
