#!/usr/bin/env bash
# Makes the sample media of the sandbox and of the fakes of providers: small real files, drawn and played from nothing, so that whoever calls with a
# test key gets media that open anywhere. Needs ffmpeg with librsvg, libx264, libmp3lame and libflite (Debian's has all
# four). The results are committed; run this only to change them:
#
#   testdata/media/make.sh
set -euo pipefail

out="$(cd "$(dirname "$0")/../.." && pwd)/testdata/providers/sample/media"
tmp="$(mktemp -d)"
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"
rm -f "$out"/*.png "$out"/*.jpg "$out"/*.mp4 "$out"/*.mp3 "$out"/*.wav

# One thread and bit-exact flags: the same ffmpeg makes the same bytes again.
ff() { ffmpeg -hide_banner -loglevel error -nostdin -y -threads 1 "$@"; }
exact=(-map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact)

# svg NAME WIDTH HEIGHT BODY
svg() { printf '<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s">%s</svg>' "$2" "$3" "$2" "$3" "$4" >"$tmp/$1.svg"; }

# hills WIDTH HEIGHT FAR MIDDLE NEAR: three ranges of hills along the lower edge
hills() {
  local w=$1 h=$2
  local y1=$((h * 60 / 100)) y2=$((h * 72 / 100)) y3=$((h * 84 / 100)) s=$((h * 12 / 100))
  printf '<path fill="%s" d="M0 %d C%d %d %d %d %d %d S%d %d %d %d V%d H0Z"/>' "$3" \
    $y1 $((w / 6)) $((y1 - s)) $((w / 3)) $((y1 - s)) $((w / 2)) $y1 $((w * 5 / 6)) $((y1 + s)) "$w" $((y1 - s / 2)) "$h"
  printf '<path fill="%s" d="M0 %d C%d %d %d %d %d %d S%d %d %d %d V%d H0Z"/>' "$4" \
    $((y2 - s / 2)) $((w / 5)) $((y2 + s)) $((w * 2 / 5)) $((y2 + s / 2)) $((w * 3 / 5)) $((y2 - s / 3)) $((w * 9 / 10)) $((y2 - s)) "$w" $((y2 - s / 4)) "$h"
  printf '<path fill="%s" d="M0 %d C%d %d %d %d %d %d S%d %d %d %d V%d H0Z"/>' "$5" \
    $y3 $((w / 4)) $((y3 - s)) $((w / 2)) $((y3 + s / 2)) $((w * 7 / 10)) $y3 $((w * 9 / 10)) $((y3 - s / 2)) "$w" $((y3 - s / 3)) "$h"
}

# landscape NAME WIDTH HEIGHT SKY SUN FAR MIDDLE NEAR: a sun over hills, as a PNG with few colours
landscape() {
  local w=$2 h=$3 r=$(( ($2 < $3 ? $2 : $3) * 16 / 100 ))
  svg "$1" "$w" "$h" "<rect width='$w' height='$h' fill='$4'/><circle cx='$((w * 64 / 100))' cy='$((h * 34 / 100))' r='$((r * 3 / 2))' fill='$5' opacity='.25'/><circle cx='$((w * 64 / 100))' cy='$((h * 34 / 100))' r='$r' fill='$5'/>$(hills "$w" "$h" "$6" "$7" "$8")"
  ff -i "$tmp/$1.svg" -vf "split[a][b];[a]palettegen=max_colors=32:reserve_transparent=0[p];[b][p]paletteuse=dither=none" \
    -frames:v 1 -compression_level 100 -pred mixed "${exact[@]}" "$out/$1.png"
}

#         name       width height sky       sun       far       middle    near
landscape image-1x1   1080 1080 '#fde8c8' '#f2784b' '#e9a178' '#a85b6f' '#4b2e52'
landscape image-4x5   1080 1350 '#d9f0ee' '#f7b733' '#8fc9bf' '#3f8f8b' '#17494d'
landscape image-5x4   1350 1080 '#e6e3fb' '#ff8fa3' '#b7aee8' '#7563b8' '#352a66'
landscape image-9x16  1080 1920 '#1d2b53' '#ffd166' '#3a4a8c' '#26366b' '#111a38'
landscape image-16x9  1920 1080 '#cfe8fb' '#ffb627' '#8fbce0' '#4f86b6' '#1f4468'
landscape image-3x4   1080 1440 '#fff1d6' '#e4572e' '#f3c583' '#c98a3c' '#6b4226'
landscape image-4x3   1440 1080 '#e3f4d7' '#f4a259' '#a7d08c' '#5b9a5d' '#265c42'
landscape image-2x3   1080 1620 '#fbe0e6' '#f25f5c' '#eea5b1' '#b5607b' '#5a2a4a'
landscape image-3x2   1620 1080 '#e0f2f7' '#ff7f50' '#9ed2dd' '#4a98a8' '#1c5260'
landscape image-21x9  1680  720 '#f4e4ff' '#ffb84c' '#cfa8ea' '#8d62b5' '#43286b'

# Slides of a carousel: five simple patterns, as JPEG.
slide() {
  svg "$1" 1080 1080 "$2"
  ff -i "$tmp/$1.svg" -vf format=yuvj420p -frames:v 1 -q:v 6 -huffman optimal "${exact[@]}" "$out/$1.jpg"
}
dots=''; for y in 0 1 2 3; do for x in 0 1 2 3; do dots+="<circle cx='$((180 + x * 240))' cy='$((180 + y * 240))' r='$((40 + (x + y) * 10))' fill='$([ $(((x + y) % 3)) = 0 ] && echo '#f2784b' || echo '#17494d')'/>"; done; done
slide slide-1 "<rect width='1080' height='1080' fill='#fde8c8'/>$dots"
slide slide-2 "<rect width='1080' height='1080' fill='#17494d'/><circle cx='540' cy='540' r='400' fill='#3f8f8b'/><circle cx='540' cy='540' r='280' fill='#8fc9bf'/><circle cx='540' cy='540' r='160' fill='#f7b733'/>"
slide slide-3 "<rect width='1080' height='1080' fill='#e6e3fb'/><path d='M0 1080L540 270L1080 1080Z' fill='#7563b8'/><path d='M270 1080L720 480L1080 960V1080Z' fill='#352a66'/><circle cx='820' cy='260' r='110' fill='#ff8fa3'/>"
slide slide-4 "<rect width='1080' height='1080' fill='#1f4468'/><rect y='240' width='1080' height='160' fill='#4f86b6'/><rect y='480' width='1080' height='160' fill='#ffb627'/><rect y='720' width='1080' height='160' fill='#8fbce0'/>"
slide slide-5 "<rect width='1080' height='1080' fill='#fbe0e6'/><rect x='140' y='140' width='380' height='380' rx='60' fill='#f25f5c'/><rect x='560' y='140' width='380' height='380' rx='190' fill='#5a2a4a'/><rect x='140' y='560' width='380' height='380' rx='190' fill='#b5607b'/><rect x='560' y='560' width='380' height='380' rx='60' fill='#eea5b1'/>"

# A little tune: eight notes over a low one, each struck and let fade.
note='(0*eq(n,0)+4*eq(n,1)+7*eq(n,2)+12*eq(n,3)+9*eq(n,4)+7*eq(n,5)+4*eq(n,6)+2*eq(n,7))'
step="${note//n,/floor(mod(t*4\\,8))\\,}"
tune="0.32*sin(2*PI*t*329.63*pow(2\\,$step/12))*exp(-5*mod(t\\,0.25))+0.16*sin(2*PI*t*659.26*pow(2\\,$step/12))*exp(-9*mod(t\\,0.25))+0.22*sin(2*PI*t*110)*exp(-2*mod(t\\,1))"
ff -f lavfi -i "aevalsrc='$tune':s=44100:d=6" -af "afade=t=out:st=5.2:d=0.8" -ac 1 -c:a libmp3lame -b:a 56k "${exact[@]}" "$out/music.mp3"

# Speech: 16 kHz, mono.
ff -f lavfi -i "flite=text='Hello from the sandbox.':voice=slt" -af "silenceremove=start_periods=1:start_threshold=-45dB,areverse,silenceremove=start_periods=1:start_threshold=-45dB,areverse" \
  -ar 16000 -ac 1 -c:a pcm_s16le "${exact[@]}" "$out/voice.wav"
# The same as an MP3, which providers of speech answer as a rule.
ff -i "$out/voice.wav" -ar 24000 -ac 1 -c:a libmp3lame -b:a 48k "${exact[@]}" "$out/voice.mp3"

h264=(-c:v libx264 -preset veryslow -crf 30 -profile:v main -pix_fmt yuv420p -c:a aac -b:a 40k -ac 1 -movflags +faststart)

# video NAME WIDTH HEIGHT SKY SUN FAR MIDDLE NEAR: three seconds in which the sun rises over the hills
video() {
  local w=$2 h=$3 r=$(( ($2 < $3 ? $2 : $3) * 18 / 100 ))
  svg "$1-sky" "$w" "$h" "<rect width='$w' height='$h' fill='$4'/>"
  svg "$1-sun" $((r * 2)) $((r * 2)) "<circle cx='$r' cy='$r' r='$r' fill='$5'/>"
  svg "$1-hills" "$w" "$h" "$(hills "$w" "$h" "$6" "$7" "$8")"
  ff -loop 1 -framerate 24 -t 3 -i "$tmp/$1-sky.svg" -loop 1 -framerate 24 -t 3 -i "$tmp/$1-sun.svg" -loop 1 -framerate 24 -t 3 -i "$tmp/$1-hills.svg" \
    -f lavfi -t 3 -i "aevalsrc='$tune':s=44100:d=3" \
    -filter_complex "[0][1]overlay=x='W*0.6-w/2':y='H*0.66-H*0.46*sin(t/3*PI/2)':eval=frame[a];[a][2]overlay[v]" \
    -map '[v]' -map 3:a -t 3 "${h264[@]}" "${exact[@]}" "$out/$1.mp4"
}
video video-9x16  540 960 '#1d2b53' '#ffd166' '#3a4a8c' '#26366b' '#111a38'
video video-16x9  960 540 '#cfe8fb' '#ffb627' '#8fbce0' '#4f86b6' '#1f4468'
video video-1x1   640 640 '#fde8c8' '#f2784b' '#e9a178' '#a85b6f' '#4b2e52'
video video-3x4   540 720 '#fff1d6' '#e4572e' '#f3c583' '#c98a3c' '#6b4226'
video video-4x3   720 540 '#e3f4d7' '#f4a259' '#a7d08c' '#5b9a5d' '#265c42'
video video-21x9 1120 480 '#f4e4ff' '#ffb84c' '#cfa8ea' '#8d62b5' '#43286b'

# avatar NAME WIDTH HEIGHT BACKGROUND CLOTHES: a drawn face that speaks the sentence of voice.wav and blinks once
avatar() {
  local w=$2 h=$3 u=$(( ($2 < $3 ? $2 : $3) )) cx=$(($2 / 2)) cy=$(($3 * 44 / 100))
  local face=$((u * 24 / 100)) eye=$((u * 3 / 100))
  svg "$1-face" "$w" "$h" "<rect width='$w' height='$h' fill='$4'/><rect x='$((cx - face * 3 / 10))' y='$cy' width='$((face * 6 / 10))' height='$((face * 7 / 4))' fill='#dfae86'/><ellipse cx='$cx' cy='$h' rx='$((u * 42 / 100))' ry='$((h - cy - face * 5 / 4))' fill='$5'/><circle cx='$cx' cy='$((cy - face / 8))' r='$((face * 115 / 100))' fill='#3b2a24'/><circle cx='$cx' cy='$((cy + face / 8))' r='$face' fill='#f1c7a3'/><circle cx='$((cx - face * 2 / 5))' cy='$cy' r='$eye' fill='#2b2b2b'/><circle cx='$((cx + face * 2 / 5))' cy='$cy' r='$eye' fill='#2b2b2b'/><rect x='$((cx - u * 5 / 100))' y='$((cy + face / 2 + u / 100))' width='$((u * 10 / 100))' height='$((u * 2 / 100))' rx='$((u / 100))' fill='#9c3d3d'/>"
  svg "$1-mouth" $((u * 12 / 100)) $((u * 8 / 100)) "<ellipse cx='$((u * 6 / 100))' cy='$((u * 4 / 100))' rx='$((u * 6 / 100))' ry='$((u * 4 / 100))' fill='#7a2323'/>"
  svg "$1-lids" $((face + eye * 2)) $((eye * 2 + 4)) "<rect width='$((face + eye * 2))' height='$((eye * 2 + 4))' fill='#f1c7a3'/>"
  ff -loop 1 -framerate 24 -t 3 -i "$tmp/$1-face.svg" -loop 1 -framerate 24 -t 3 -i "$tmp/$1-mouth.svg" -loop 1 -framerate 24 -t 3 -i "$tmp/$1-lids.svg" -i "$out/voice.wav" \
    -filter_complex "[0][1]overlay=x='(W-w)/2':y='$((cy + face / 2 - u * 2 / 100))':enable='lt(t,1.4)*lt(mod(t,0.26),0.15)'[a];[a][2]overlay=x='(W-w)/2':y='$((cy - eye - 2))':enable='between(t,1.9,2.05)'[v];[3:a]apad=whole_dur=3[s]" \
    -map '[v]' -map '[s]' -t 3 "${h264[@]}" "${exact[@]}" "$out/$1.mp4"
}
avatar avatar-9x16 540 960 '#d9f0ee' '#3f8f8b'
avatar avatar-16x9 960 540 '#e6e3fb' '#7563b8'
avatar avatar-1x1  640 640 '#fde8c8' '#a85b6f'

du -cb "$out"/* | sort -n
