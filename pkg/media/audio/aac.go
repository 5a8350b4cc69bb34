package audio

import "time"

// aacRates are the sample rates of AAC, by their index.
var aacRates = [16]int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

// aacSamples is the number of samples in a block of AAC.
const aacSamples = 1024

// aac reads a stream of AAC in ADTS frame by frame.
func aac(content []byte) (Sound, error) {
	var at, blocks, rate int
	for at+7 <= len(content) {
		h := content[at:]
		is := aacRates[h[2]>>2&15]
		length := int(h[3]&3)<<11 | int(h[4])<<3 | int(h[5]>>5)
		if h[0] != 0xff || h[1]&0xf6 != 0xf0 || is == 0 || rate != 0 && is != rate || length < 7 ||
			at+length > len(content) {
			break
		}
		blocks += int(h[6]&3) + 1
		rate, at = is, at+length
	}
	if blocks == 0 {
		return Sound{}, Unsupported("audio/aac without a frame of sound")
	}
	return Sound{MIMEType: "audio/aac", Ext: "aac", Duration: playing(int64(blocks)*aacSamples, int64(rate)),
		To: int64(at)}, nil
}

// playing returns the time for which samples play at a rate.
func playing(n, rate int64) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}
