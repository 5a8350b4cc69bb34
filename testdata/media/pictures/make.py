# Makes small pictures with profiles, and their colors in sRGB by lcms2 (Pillow's ImageCms).
import json, struct, io, sys
from PIL import Image, ImageCms
# python make.py PROFILES/ OUT/ : the profiles are prism/meta/icc/test-profiles of github.com/kovidgoyal/imaging.
P, OUT = sys.argv[1], sys.argv[2]
sw=[(200,60,50),(60,160,70),(40,80,190),(230,180,60),(180,60,160),(128,128,128),(255,255,255),(0,0,0),(12,20,8)]
def sheet(mode,vals):
    im=Image.new(mode,(32*len(vals),32))
    for i,v in enumerate(vals): im.paste(v,(32*i,0,32*i+32,32))
    return im
def tag(sig,body): return sig,body
def profile(space,pcs,cls,tags):
    off=128+4+12*len(tags); table=b''; data=b''
    for sig,body in tags:
        body+=b'\0'*(-len(body)%4)
        table+=sig+struct.pack('>II',off+len(data),len(body)); data+=body
    n=off+len(data)
    h=struct.pack('>I4sI4s4s4s12s4s4sI4s4sQI',n,b'lcms',0x02400000,cls,space,pcs,struct.pack('>6H',2026,1,1,0,0,0),b'acsp',b'APPL',0,b'test',b'test',0,0)
    h+=struct.pack('>3i',63190,65536,54061)
    h+=b'test'+b'\0'*44
    assert len(h)==128,len(h)
    return h+struct.pack('>I',len(tags))+table+data
def text(s): return b'desc\0\0\0\0'+struct.pack('>I',len(s)+1)+s+b'\0'+b'\0'*(4+4+2+1+67)
def cmyk():
    g=5; nodes=[]
    import itertools
    for c,m,y,k in itertools.product(range(g),repeat=4):
        c,m,y,k=[v/(g-1) for v in (c,m,y,k)]
        L=(100-35*c-45*m-8*y+5*c*m)*(1-0.9*k)+ 4*k
        a=(-35*c+70*m-5*y)*(1-k); b=(-45*c-3*m+88*y)*(1-k)
        nodes.append((max(0,L),a,b))
    lut=b'mft2\0\0\0\0'+bytes([4,3,g,0])+struct.pack('>9i',65536,0,0,0,65536,0,0,0,65536)+struct.pack('>HH',2,2)
    lut+=struct.pack('>HH',0,65535)*4
    for L,a,b in nodes: lut+=struct.pack('>3H',int(L*652.8),int((a+128)*256),int((b+128)*256))
    lut+=struct.pack('>HH',0,65535)*3
    return profile(b'CMYK',b'Lab ',b'prtr',[(b'desc',text(b'Small inks')),(b'cprt',b'text\0\0\0\0none\0'),(b'wtpt',b'XYZ \0\0\0\0'+struct.pack('>3i',63190,65536,54061)),(b'A2B0',lut)])
srgb=ImageCms.createProfile('sRGB')
right={}
def put(name,raw,mode,vals,**kw):
    prof=ImageCms.ImageCmsProfile(io.BytesIO(raw)); im=sheet(mode,vals)
    got=ImageCms.profileToProfile(im,prof,srgb,outputMode='RGB')
    im.save(OUT+name,icc_profile=raw,**kw); right[name]=[got.getpixel((32*i+16,16)) for i in range(len(vals))]
rd=lambda f:open(P+f,'rb').read()
J=dict(quality=100,subsampling=0)
put('adobe_rgb.jpg',rd('ClayRGB1998.icm'),'RGB',sw,**J)
put('adobe_rgb.webp',rd('ClayRGB1998.icm'),'RGB',sw,lossless=True)
put('prophoto.png',rd('prophoto.icc'),'RGB',sw)
put('prophoto.jpg',rd('prophoto.icc'),'RGB',sw,**J)
put('display_p3.webp',rd('displayp3.icc'),'RGB',sw,quality=100)
put('display_p3_palette.png',rd('displayp3.icc'),'RGB',sw)
im=Image.open(OUT+'display_p3_palette.png').convert('P',palette=Image.ADAPTIVE); im.save(OUT+'display_p3_palette.png',icc_profile=rd('displayp3.icc'))
put('v4_lut.png',rd('sRGB_ICC_v4_Appearance.icc'),'RGB',sw)
put('gray_gamma18.png',rd('gray-v2-gamma1.8-d65.icc'),'L',[v[0] for v in sw])
put('gray_table.jpg',rd('gray-v2-tabulated-prtr.icc'),'L',[v[0] for v in sw],quality=100)
put('inks.jpg',cmyk(),'CMYK',[(20,40,60,30),(90,30,40,20),(60,90,20,0),(10,10,80,60),(50,50,50,50),(0,0,0,0),(30,0,60,90),(70,20,20,10),(0,0,0,64)],quality=100)
json.dump(right,open(OUT+'lcms2.json','w'),indent=0,sort_keys=True)
# orientations: a red corner left above when upright, blue right above
base=Image.new('RGB',(96,64),(255,255,255)); base.paste((255,0,0),(0,0,32,32)); base.paste((0,0,255),(64,0,96,32))
inv={1:None,2:Image.FLIP_LEFT_RIGHT,3:Image.ROTATE_180,4:Image.FLIP_TOP_BOTTOM,5:Image.TRANSPOSE,6:Image.ROTATE_90,7:Image.TRANSVERSE,8:Image.ROTATE_270}
for o in range(1,9):
    im=base if inv[o] is None else base.transpose(inv[o])
    ex=Image.Exif(); ex[0x112]=o
    im.save(OUT+f'turned{o}.jpg',exif=ex,quality=95)
    im.save(OUT+f'turned{o}.png',exif=ex)
    im.save(OUT+f'turned{o}_lossy.webp',exif=ex.tobytes(),quality=95)
    im.save(OUT+f'turned{o}_lossless.webp',exif=ex.tobytes(),lossless=True)
    al=im.convert('RGBA'); px=al.load()
    for x in range(im.width):
        for y in range(im.height):
            if px[x,y][:3]==(255,255,255): px[x,y]=(255,0,255,0)
    al.save(OUT+f'turned{o}_alpha.webp',exif=ex.tobytes(),quality=95)
    al.save(OUT+f'turned{o}_alpha.png',exif=ex)
im=Image.new('CMYK',(96,64),(0,0,0,0)); im.paste((0,255,255,0),(0,0,32,32)); im.paste((255,255,0,0),(64,0,96,32))
ex=Image.Exif(); ex[0x112]=6
im.transpose(Image.ROTATE_90).save(OUT+'turned6_inks.jpg',exif=ex,quality=95)
# animated
fr=[base.resize((48,32)),base.resize((48,32)).transpose(Image.ROTATE_180)]
fr[0].save(OUT+'animated.webp',save_all=True,append_images=fr[1:],duration=100)
fr[0].save(OUT+'animated.png',save_all=True,append_images=fr[1:],duration=100)
