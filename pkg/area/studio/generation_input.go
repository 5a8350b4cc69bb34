package studio

import "github.com/content-automation/api/pkg/adapter/provider"

// Input is the input of a generation. Each kind uses some of the members.
type Input struct {
	Prompt      string `json:"prompt,omitempty" maxLength:"4000" doc:"Videos, images and music: description of what to make" example:"A trail running shoe on wet rock, morning light"`
	Text        string `json:"text,omitempty" maxLength:"100000" doc:"Voices and avatars: text to speak" example:"Made of recycled nets."`
	AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" doc:"Aspect ratio, one of the model's aspect_ratios. Absent: the image sets it, or the output has none" example:"9:16"`
	Seconds     int    `json:"seconds,omitempty" minimum:"1" maximum:"600" doc:"Videos and music: length, within the limits of the model. Avatars with audio_url: measured length of the recording, rounded up"`
	Count       int    `json:"count,omitempty" minimum:"1" maximum:"10" doc:"Images: number of images. Absent: 1"`
	Language    string `json:"language,omitempty" maxLength:"35" doc:"Voices and avatars: language of the text (BCP 47)" example:"en"`
	Voice       string `json:"voice,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"Voices and avatars: the provider's id of a voice. Absent: the model's own"`
	Avatar      string `json:"avatar,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"Avatars: the provider's id of an avatar. Absent: a suitable one"`
	Lyrics      string `json:"lyrics,omitempty" maxLength:"3000" doc:"Music: lyrics, if the model supports them"`
	ImageURL    string `json:"image_url,omitempty" maxLength:"2048" doc:"Image to start from: a public https URL, or the id of one of your media"`
	AudioURL    string `json:"audio_url,omitempty" maxLength:"2048" doc:"Recording: a public https URL, or the id of one of your media. Avatars: speech to use instead of text. Voices: sample of the voice to imitate"`
	VideoURL    string `json:"video_url,omitempty" maxLength:"2048" doc:"Avatars: video whose lips are synchronized with the speech: a public https URL, or the id of one of your media"`
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
