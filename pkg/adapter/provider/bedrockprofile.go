package provider

import "strings"

// ProfilesOption is the option of a model that Bedrock serves by cross-region inference profiles: the geographies that
// have one, separated by commas.
const ProfilesOption = "profiles"

const globalProfile = "global"

// BedrockEverywhere is the name, in the list of providers, by which a stack permits Bedrock to process its calls
// anywhere in the world.
const BedrockEverywhere = "bedrock-global"

// ProfileIn returns the profile by which a model is called in a region: the one of the region's geography, else the
// global one if that is permitted, else none. A model with profiles can, in most regions, only be called by them.
func ProfileIn(region string, options map[string]string, everywhere bool) string {
	geography, _, _ := strings.Cut(region, "-")
	if geography == "ap" {
		geography = "apac"
	}
	best := ""
	for name := range strings.SplitSeq(options[ProfilesOption], ",") {
		switch strings.TrimSpace(name) {
		case geography:
			return geography
		case globalProfile:
			if everywhere {
				best = globalProfile
			}
		}
	}
	return best
}

// RegionsOf returns the regions to which a profile may send a call, as patterns of ARNs. The global profile may also
// send it to places that AWS assigns to no region.
func RegionsOf(profile string) []string {
	switch profile {
	case globalProfile:
		return []string{"", "*"}
	case "apac":
		return []string{"ap-*"}
	default:
		return []string{profile + "-*"}
	}
}
