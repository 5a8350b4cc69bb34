package studio

import "github.com/content-automation/api/pkg/adapter/provider"

// Input is the input of a generation. Each kind uses some of the members.
type Input struct {
	// Videos, images and music: description of what to make.
	Prompt string `json:"prompt,omitempty" maxLength:"4000" example:"A trail running shoe on wet rock, morning light"`
	// Voices and avatars: text to speak.
	Text string `json:"text,omitempty" maxLength:"100000" example:"Made of recycled nets."`
	// Aspect ratio, one of the model's aspect_ratios. Absent: the image sets it, or the output has none.
	AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"9:16"`
	// Videos and music: length, within the limits of the model. Avatars with audio_url: measured length of the
	// recording, rounded up.
	Seconds int `json:"duration_seconds,omitempty" minimum:"1" maximum:"600"`
	// Images: number of images. Absent: 1.
	Count int `json:"count,omitempty" minimum:"1" maximum:"10"`
	// Voices and avatars: language of the text (BCP 47).
	Language string `json:"language,omitempty" maxLength:"35" example:"en"`
	// Voices and avatars: the provider's id of a voice. Absent: the model's own.
	Voice string `json:"voice,omitempty" maxLength:"100" format:"word"`
	// Avatars: the provider's id of an avatar. Absent: a suitable one.
	Avatar string `json:"avatar,omitempty" maxLength:"100" format:"word"`
	// Music: lyrics, if the model supports them.
	Lyrics string `json:"lyrics,omitempty" maxLength:"3000"`
	// Image to start from: a public https URL, or the id of one of your media.
	ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
	// Recording: a public https URL, or the id of one of your media. Avatars: speech to use instead of text. Voices:
	// sample of the voice to imitate.
	AudioURL string `json:"audio_url,omitempty" maxLength:"2048"`
	// Avatars: video whose lips are synchronized with the speech: a public https URL, or the id of one of your media.
	VideoURL string `json:"video_url,omitempty" maxLength:"2048"`
}

// Request returns the request to the provider.
func (in Input) Request(kind provider.Kind) provider.Request {
	req := provider.Request{
		Kind: kind, Prompt: in.Prompt, Language: in.Language, AspectRatio: in.AspectRatio, Seconds: in.Seconds,
		Count:    in.Count,
		ImageURL: in.ImageURL, AudioURL: in.AudioURL, VideoURL: in.VideoURL, Lyrics: in.Lyrics, Voice: in.Voice,
		Avatar: in.Avatar,
	}
	if in.Text != "" {
		req.Prompt = in.Text
	}
	return req
}

// The members that take a file.
const (
	ImageMember = "image_url"
	AudioMember = "audio_url"
	VideoMember = "video_url"
)

// File returns the member of a name that takes a file.
func (in *Input) File(member string) *string {
	return map[string]*string{ImageMember: &in.ImageURL, AudioMember: &in.AudioURL, VideoMember: &in.VideoURL}[member]
}
