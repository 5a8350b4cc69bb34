package fal

import (
	"strconv"

	"github.com/content-automation/api/testdata/providers/sample"
)

// The members that many models share.
var (
	prompt    = fields{"prompt": need(text(1, 20000))}
	seed      = fields{"seed": maybe(number(0, 1<<32))}
	inline    = fields{"sync_mode": maybe(flag)}
	safety    = fields{"enable_safety_checker": maybe(flag)}
	negative  = fields{"negative_prompt": maybe(text(0, 20000))}
	tolerance = fields{"safety_tolerance": maybe(oneOf("1", "2", "3", "4", "5", "6"))}
	oldFormat = fields{"output_format": maybe(oneOf("jpeg", "png"))}
	newFormat = fields{"output_format": maybe(oneOf("jpeg", "png", "webp"))}
	several   = fields{"num_images": maybe(number(1, 4))}
	freeSize  = fields{"image_size": maybe(size(8, 64*64, 1<<24))}
	nineRatio = oneOf("21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21")
	tenRatio  = oneOf("21:9", "16:9", "3:2", "4:3", "5:4", "1:1", "4:5", "3:4", "2:3", "9:16")
)

var (
	flux = prompt.and(seed).and(inline).and(safety).and(oldFormat).and(several).and(freeSize).and(fields{
		"guidance_scale": maybe(number(1, 20)), "num_inference_steps": maybe(number(1, 50)),
		"acceleration": maybe(oneOf("none", "regular", "high")),
	})
	fluxPro = prompt.and(seed).and(inline).and(oldFormat).and(several).and(tolerance).and(
		fields{"enhance_prompt": maybe(flag)})
	banana = prompt.and(seed).and(inline).and(newFormat).and(several).and(tolerance).and(fields{
		"aspect_ratio": maybe(tenRatio), "limit_generations": maybe(flag),
	})
	bananaPro = banana.and(fields{"resolution": maybe(oneOf("1K", "2K", "4K")), "enable_web_search": maybe(flag)})

	veo = prompt.and(seed).and(negative).and(tolerance).and(fields{
		"aspect_ratio": maybe(oneOf("16:9", "9:16")), "duration": maybe(oneOf("4s", "6s", "8s")),
		"auto_fix":       maybe(flag),
		"generate_audio": maybe(flag), "resolution": maybe(oneOf("720p", "1080p", "4k")),
	})
	// Kling takes the length as a text.
	kling     = prompt.and(negative).and(fields{"duration": maybe(oneOf("5", "10"))})
	klingFrom = kling.and(fields{"image_url": need(address), "cfg_scale": maybe(number(0, 1))})

	klingTurbo = fields{
		"prompt": need(text(1, 2500)), "aspect_ratio": maybe(oneOf("16:9", "9:16", "1:1")),
		"duration": maybe(oneOf(numbered(3, 15)...)),
	}

	song = fields{
		"prompt": need(text(10, 300)), "lyrics_prompt": need(text(10, 3000)),
		"audio_setting": maybe(object(fields{"format": maybe(oneOf("mp3", "pcm", "flac"))})),
	}
	speech = fields{
		"output_format": maybe(oneOf("url", "hex")),
		"voice_setting": maybe(object(fields{"voice_id": maybe(text(1, 100)), "speed": maybe(number(0, 2)),
			"pitch": maybe(number(-12, 12))})),
		"language_boost": maybe(oneOf(boosts...)),
	}
	face   = fields{"image_url": need(address)}
	spoken = fields{"audio_url": need(address)}
)

var boosts = []string{
	"Chinese", "Chinese,Yue", "English", "Arabic", "Russian", "Spanish", "French", "Portuguese", "German",
	"Turkish", "Dutch",
	"Ukrainian", "Vietnamese", "Indonesian", "Japanese", "Italian", "Korean", "Thai", "Polish", "Romanian",
	"Greek", "Czech",
	"Finnish", "Hindi", "Bulgarian", "Danish", "Hebrew", "Malay", "Slovak", "Swedish", "Croatian",
	"Hungarian", "Norwegian",
	"Slovenian", "Catalan", "Nynorsk", "Afrikaans", "auto",
}

// speakers are the voices of MultiTalk.
var speakers = oneOf("Aria", "Roger", "Sarah", "Laura", "Charlie", "George", "Callum", "River", "Liam",
	"Charlotte", "Alice",
	"Matilda", "Will", "Jessica", "Eric", "Chris", "Brian", "Daniel", "Lily", "Bill")

// veedAvatars are some of the avatars of VEED.
var veedAvatars = oneOf("emily_vertical_primary", "marcus_vertical_primary", "mira_vertical_primary",
	"any_male_vertical_primary",
	"any_female_vertical_primary", "emily_primary", "marcus_primary", "any_male_primary", "any_female_primary")

// numbered returns the whole numbers of a range as texts.
func numbered(from, to int) []string {
	var all []string
	for n := from; n <= to; n++ {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

func image(f fields) schema  { return schema{kind: sample.Image, fields: f} }
func video(f fields) schema  { return schema{kind: sample.Video, named: "video", fields: f} }
func track(f fields) schema  { return schema{kind: sample.Music, named: "audio", fields: f} }
func avatar(f fields) schema { return schema{kind: sample.Avatar, named: "video", fields: f} }

// says returns a schema whose prompt has another name.
func (s schema) says(name string) schema {
	s.prompt = name
	return s
}

// schemas are the schemas of the models, by their endpoints.
var schemas = map[string]schema{
	"fal-ai/flux/schnell":  image(flux),
	"fal-ai/flux-pro/v1.1": image(fluxPro.and(freeSize)),
	"fal-ai/flux-pro/v1.1-ultra": image(fluxPro.and(fields{"aspect_ratio": maybe(nineRatio),
		"image_url": maybe(address), "image_prompt_strength": maybe(number(0, 1)), "raw": maybe(flag)})),
	"fal-ai/flux-pro/kontext": image(fluxPro.and(face).and(fields{"aspect_ratio": maybe(nineRatio),
		"guidance_scale": maybe(number(1, 20))})),
	"fal-ai/flux-2-pro": image(prompt.and(seed).and(inline).and(safety).and(oldFormat).and(freeSize).and(
		fields{"safety_tolerance": maybe(oneOf("1", "2", "3", "4", "5"))})),
	"fal-ai/recraft/v3/text-to-image": image(prompt.and(safety).and(freeSize).and(fields{
		"style":    maybe(oneOf("any", "realistic_image", "digital_illustration", "vector_illustration")),
		"style_id": maybe(text(1, 100)),
	})),
	"fal-ai/ideogram/v3": image(prompt.and(seed).and(inline).and(negative).and(several).and(freeSize).and(fields{
		"rendering_speed": maybe(oneOf("TURBO", "BALANCED", "QUALITY")),
		"style":           maybe(oneOf("AUTO", "GENERAL", "REALISTIC", "DESIGN")), "expand_prompt": maybe(flag),
	})),
	"fal-ai/nano-banana":     image(banana),
	"fal-ai/nano-banana-2":   image(bananaPro.and(fields{"resolution": maybe(oneOf("0.5K", "1K", "2K", "4K"))})),
	"fal-ai/nano-banana-pro": image(bananaPro),
	"openai/gpt-image-2": image(prompt.and(inline).and(newFormat).and(several).and(fields{
		"image_size": maybe(size(16, 655360, 8294400)), "quality": maybe(oneOf("auto", "low", "medium", "high")),
	})),
	"openai/gpt-image-2.5/flare/text-to-image": image(prompt.and(inline).and(newFormat).and(several).and(fields{
		"image_size": maybe(size(16, 655360, 8294400)), "background": maybe(text(1, 20)),
		"quality": maybe(oneOf("auto", "low", "medium", "high", "xhigh", "max")),
	})),
	"google/nano-banana-2.1": image(prompt.and(seed).and(inline).and(newFormat).and(several).and(fields{
		"aspect_ratio": maybe(tenRatio), "resolution": maybe(oneOf("1K", "2K", "4K")),
		"thinking_level": maybe(oneOf("minimal", "low", "medium", "high")),
	})),
	"fal-ai/bytedance/seedream/v4/text-to-image": image(prompt.and(seed).and(inline).and(safety).and(
		several).and(fields{
		"image_size": maybe(size(1, 960*960, 4096*4096)), "max_images": maybe(number(1, 6)),
		"enhance_prompt_mode": maybe(oneOf("standard", "fast")),
	})),
	"fal-ai/qwen-image": image(flux.and(negative).and(fields{"use_turbo": maybe(flag)})),

	"fal-ai/veo3.1": video(veo),
	"fal-ai/kling-video/v2.5-turbo/pro/image-to-video": video(
		klingFrom.and(fields{"tail_image_url": maybe(address)})),
	"fal-ai/kling-video/v2.6/pro/image-to-video": video(kling.and(fields{"start_image_url": need(address),
		"end_image_url": maybe(address), "generate_audio": maybe(flag)})),
	"fal-ai/veo3.1/lite":                                 video(veo.and(fields{"resolution": maybe(oneOf("720p", "1080p"))})),
	"fal-ai/kling-video/v3/turbo/pro/text-to-video":      video(klingTurbo),
	"fal-ai/kling-video/v3/turbo/standard/text-to-video": video(klingTurbo),
	// Kling 4.0 takes the length as a number, and always makes sound.
	"kling/v4/text-to-video": video(fields{
		"prompt": need(text(1, 2500)), "aspect_ratio": maybe(oneOf("auto", "16:9", "9:16", "1:1", "21:9")),
		"duration": maybe(number(3, 30)), "resolution": maybe(oneOf("720p", "1080p")),
	}),
	"minimax/h3/text-to-video": video(prompt.and(fields{
		"aspect_ratio": maybe(oneOf("21:9", "16:9", "4:3", "1:1", "3:4", "9:16")), "duration": maybe(number(5, 15)),
		"resolution": maybe(oneOf("768P", "2K")),
	})),
	"bytedance/seedance-2.0/text-to-video": video(prompt.and(fields{
		"aspect_ratio": maybe(oneOf("auto", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16")),
		"duration":     maybe(oneOf(append(numbered(4, 15), "auto")...)),
		"resolution":   maybe(oneOf("480p", "720p", "1080p", "4k")), "generate_audio": maybe(flag),
	})),
	"fal-ai/wan-25-preview/text-to-video": video(seed.and(safety).and(fields{
		"prompt": need(text(1, 1500)), "negative_prompt": maybe(text(0, 500)),
		"aspect_ratio": maybe(oneOf("16:9", "9:16", "1:1")),
		"duration":     maybe(oneOf("5", "10")), "resolution": maybe(oneOf("480p", "720p", "1080p")),
		"audio_url": maybe(address),
	})),

	"fal-ai/ace-step/prompt-to-audio": track(prompt.and(seed).and(fields{"duration": maybe(number(5, 240)),
		"instrumental": maybe(flag)})),
	"fal-ai/minimax-music/v2": track(song),
	"fal-ai/stable-audio-25/text-to-audio": track(
		prompt.and(seed).and(inline).and(fields{"seconds_total": maybe(number(1, 190))})),

	"fal-ai/elevenlabs/text-to-dialogue/eleven-v3": {kind: sample.Voice, named: "audio", prompt: "inputs",
		fields: seed.and(fields{
			"inputs":        need(list(object(fields{"text": need(text(1, 5000)), "voice": need(text(1, 100))}))),
			"language_code": maybe(text(2, 2)),
		})},
	"fal-ai/minimax/speech-2.8-hd": {kind: sample.Voice, named: "audio",
		fields: speech.and(fields{"prompt": need(text(1, 10000))})},

	"fal-ai/heygen/avatar4/image-to-video": avatar(face.and(fields{
		"prompt": maybe(text(1, 5000)), "voice": maybe(text(1, 100)), "audio_url": maybe(address),
		"caption":      maybe(flag),
		"aspect_ratio": maybe(oneOf("16:9", "9:16", "4:5", "5:4", "1:1", "auto")),
		"resolution":   maybe(oneOf("360p", "480p", "540p", "720p", "1080p")),
	})),
	"fal-ai/bytedance/omnihuman/v1.5": avatar(face.and(spoken).and(fields{
		"prompt": maybe(text(0, 5000)), "resolution": maybe(oneOf("720p", "1080p")), "turbo_mode": maybe(flag),
	})).says("audio_url"),
	"fal-ai/ai-avatar/multi-text": avatar(prompt.and(face).and(seed).and(fields{
		"first_text_input": need(text(1, 5000)), "second_text_input": need(text(1, 5000)), "voice1": maybe(speakers),
		"voice2":     maybe(speakers),
		"resolution": maybe(oneOf("480p", "720p")), "num_frames": maybe(number(81, 129)),
	})).says("first_text_input"),
	"veed/avatars/text-to-video": avatar(fields{"text": need(text(1, 5000)),
		"avatar_id": need(veedAvatars)}).says("text"),
}
