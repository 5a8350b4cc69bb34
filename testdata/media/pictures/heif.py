# Makes small HEIC and AVIF pictures, and what libheif and lcms2 show of them.
# python heif.py OUT/ : with Pillow (and its AVIF), pillow-heif, and heif-enc of libheif; p3.jpg is in OUT.
import io, json, struct, subprocess, sys
from PIL import Image, ImageCms, ImageOps
import pillow_heif
pillow_heif.register_heif_opener()
OUT,FFMPEG=sys.argv[1],'.tools/media/ffmpeg'; right={}
sw=[(200,60,50),(60,160,70),(40,80,190),(230,180,60),(180,60,160),(128,128,128),(255,255,255),(0,0,0)]
def sheet(w=32,h=48,mode='RGB'):
    im=Image.new(mode,(w*4,h*2))
    for i,v in enumerate(sw): im.paste(v,(w*(i%4),h*(i//4),w*(i%4)+w,h*(i//4)+h))
    return im
P3=Image.open(OUT+'p3.jpg').info['icc_profile']
def full(name,body,v=0,flags=0): return box(name,struct.pack('>I',v<<24|flags)+body)
def box(name,body): return struct.pack('>I',8+len(body))+name+body
def boxes(b):
    at=0
    while at+8<=len(b):
        n,name=struct.unpack('>I4s',b[at:at+8]); n=n or len(b)-at
        yield name,b[at+8:at+n]; at+=n
def one(im,**kw): # hvcC or av1C of a picture, and its data
    b=io.BytesIO()
    if kw.pop('avif',0): im.save(b,'AVIF',**kw)
    else: pillow_heif.from_pillow(im).save(b,**kw)
    b=b.getvalue(); top=dict(boxes(b)); meta=dict(boxes(top[b'meta'][4:]))
    conf=[(n,v) for n,v in boxes(dict(boxes(meta[b'iprp']))[b'ipco']) if n in (b'hvcC',b'av1C')][0]
    data=top[b'mdat']
    return conf,data
def build(name,size,tile,im,props=(),brand=b'heic',thumb=False,alpha=False,prem=False,compat=b'mif1heicmiaf',wide=False,**kw):
    """A grid of tiles, in idat, as telephones write it."""
    cols,rows=-(-size[0]//tile),-(-size[1]//tile)
    pad=Image.new(im.mode,(cols*tile,rows*tile)); pad.paste(im,(0,0))
    kind=b'av01' if kw.get('avif') else b'hvc1'
    tiles=[one(pad.crop((x*tile,y*tile,x*tile+tile,y*tile+tile)),**dict(kw)) for y in range(rows) for x in range(cols)]
    ipco=[]; ipma=[]; infe=[]; iloc=[]; iref=[]; mdat=b''
    def prop(b):
        if b not in ipco: ipco.append(b)
        return ipco.index(b)+1
    def ispe(w,h): return prop(full(b'ispe',struct.pack('>II',w,h)))
    def add(n,kind,assoc,data,inidat=False,hidden=0):
        nonlocal mdat
        infe.append(full(b'infe',struct.pack('>HH4s',n,0,kind)+b'\0',2,hidden)); ipma.append((n,assoc))
        iloc.append((n,inidat,0 if inidat else len(mdat),len(data)))
        if not inidat: mdat+=data
    for i,(conf,data) in enumerate(tiles):
        add(i+1,kind,[prop(box(*conf)),ispe(tile,tile)],data,hidden=1)
    n=len(tiles)
    grid=struct.pack('>BBBB',0,wide,rows-1,cols-1)+struct.pack('>II' if wide else '>HH',*size)
    add(n+1,b'grid',[ispe(*size),prop(full(b'pixi',b'\3\x08\x08\x08'))]+[prop(p) for p in props],grid,True)
    iref.append(box(b'dimg',struct.pack('>HH',n+1,n)+b''.join(struct.pack('>H',i+1) for i in range(n))))
    if thumb:
        t=im.resize((32,24)); conf,data=one(t,**dict(kw)); add(n+2,kind,[prop(box(*conf)),ispe(32,24)],data)
        iref.append(box(b'thmb',struct.pack('>HHH',n+2,1,n+1)))
    ex=b'\0\0\0\6Exif\0\0MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0Secret maker'
    add(n+3,b'Exif',[],ex); iref.append(box(b'cdsc',struct.pack('>HHH',n+3,1,n+1)))
    hdlr=full(b'hdlr',b'\0\0\0\0pict'+b'\0'*13); pitm=full(b'pitm',struct.pack('>H',n+1))
    iinf=full(b'iinf',struct.pack('>H',len(infe))+b''.join(infe))
    iprp=box(b'iprp',box(b'ipco',b''.join(ipco))+full(b'ipma',struct.pack('>I',len(ipma))+b''.join(struct.pack('>HB',n,len(a))+bytes(0x80|p for p in a) for n,a in ipma)))
    refs=full(b'iref',b''.join(iref)); ftyp=box(b'ftyp',brand+b'\0\0\0\0'+compat)
    def meta(base):
        il=full(b'iloc',b'\x44\0'+struct.pack('>H',len(iloc))+b''.join(struct.pack('>HHHHII',n,int(i),0,1,at+(0 if i else base),l) for n,i,at,l in iloc),1)
        return full(b'meta',hdlr+pitm+iinf+refs+iprp+il+box(b'idat',grid))
    base=len(ftyp)+len(meta(0))+8
    open(OUT+name,'wb').write(ftyp+meta(base)+box(b'mdat',mdat))
def prof(p): return box(b'colr',b'prof'+p)
def nclx(p,t,m,f): return box(b'colr',b'nclx'+struct.pack('>HHHB',p,t,m,f<<7))
irot=lambda q: box(b'irot',bytes([q])); imir=lambda a: box(b'imir',bytes([a]))
im=sheet(); K=dict(quality=90,chroma='420')
build('phone.heic',(120,90),64,im,[prof(P3),irot(3)],thumb=True,**K)
build('samsung.heic',(120,90),64,im,[nclx(1,13,6,1),irot(1)],brand=b'mif1',wide=True,**K)
build('p3nclx.heic',(120,90),64,im,[nclx(12,13,6,1)],**K)
build('bt2020.avif',(120,90),64,im,[nclx(9,14,6,1)],brand=b'avif',compat=b'avifmif1miaf',avif=1,quality=90)
build('grid.avif',(128,96),64,im,[nclx(1,13,6,1)],brand=b'avif',compat=b'avifmif1miaf',avif=1,quality=90)
turns=[(0,None),(1,None),(2,None),(3,None),(0,0),(0,1),(1,0),(3,0)]
for i,(q,m) in enumerate(turns):
    build(f'turned{i+1}.heic',(128,96),64,im,[nclx(1,13,6,1)]+([irot(q)] if q else [])+([imir(m)] if m is not None else []),**K)
I=Image.Image
def put(name,im,avif=False,**kw):
    if name.endswith('avif'): im.save(OUT+name,quality=90,**kw)
    else: pillow_heif.from_pillow(im).save(OUT+name,quality=90,**kw)
put('p3.avif',im,icc_profile=P3,subsampling='4:4:4')
al=im.convert('RGBA'); al.paste((255,0,255,0),(0,0,32,48)); al.paste((60,160,70,128),(32,0,64,48))
put('alpha.avif',al); put('alpha.heic',al); put('gray.avif',im.convert('L'))
ex=Image.Exif(); ex[0x112]=6; put('turned6.avif',im,exif=ex.tobytes())
put('odd.avif',im.crop((0,0,65,49))); put('odd.heic',im.crop((0,0,65,49)))
ten=Image.new('RGB',im.size); import array
h=pillow_heif.from_bytes('RGB;16',im.size,b''.join(struct.pack('<3H',*(v*257 for v in p)) for p in im.get_flattened_data())); h.save(OUT+'ten.heic',quality=90)
im.save(OUT+'sequence.avif',save_all=True,append_images=[im.transpose(Image.ROTATE_180)])
im.save('/tmp/swatches.png')
E=lambda name,p,t,m,f: subprocess.run(['heif-enc','--colour_primaries',p,'--transfer_characteristic',t,'--matrix_coefficients',m,'--full_range_flag',f,'-q','90','-o',OUT+name,'/tmp/swatches.png'],check=True,stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL)
E('bt709.heic','1','13','1','0')
subprocess.run([FFMPEG,'-v','error','-y','-i','/tmp/swatches.png','-vf','scale=out_color_matrix=bt709:out_range=tv,format=yuv444p','-color_range','tv','-colorspace','bt709','-c:v','libaom-av1','-still-picture','1','-crf','10',OUT+'bt709.avif'],check=True)
for name in ['phone.heic','samsung.heic','grid.avif','p3.avif','alpha.avif','alpha.heic','gray.avif','turned6.avif','odd.avif','odd.heic','ten.heic','bt709.heic','bt709.avif']+[f'turned{i+1}.heic' for i in range(8)]:
    im2=ImageOps.exif_transpose(Image.open(OUT+name)); icc=im2.info.get('icc_profile'); a=im2.convert('RGBA')
    rgb=a.convert('RGB')
    if icc: rgb=ImageCms.profileToProfile(rgb,ImageCms.ImageCmsProfile(io.BytesIO(icc)),ImageCms.createProfile('sRGB'))
    w,hh=a.size; pts=[((2*i+1)*w//8,(2*j+1)*hh//8) for j in range(4) for i in range(4)]
    right[name]=dict(size=[w,hh],colors=[list(rgb.getpixel(p))+[a.getpixel(p)[3]] for p in pts])
M={'bt2020.avif':((.708,.292),(.170,.797),(.131,.046)),'p3nclx.heic':((.680,.320),(.265,.690),(.150,.060))}
def mat(xy):
    import numpy as np
    c=lambda p: np.array([p[0]/p[1],1,(1-p[0]-p[1])/p[1]]); m=np.stack([c(p) for p in xy],1); return m*np.linalg.solve(m,c((.3127,.3290)))
def srgb(rgb,xy):
    import numpy as np
    v=np.array(rgb)/255; lin=np.where(v<=.04045,v/12.92,((v+.055)/1.055)**2.4)
    lin=np.linalg.solve(mat(((.64,.33),(.30,.60),(.15,.06))),mat(xy)@lin).clip(0,1)
    return [int(round(x*255)) for x in np.where(lin<=.0031308,lin*12.92,1.055*lin**(1/2.4)-.055)]
for name,xy in M.items():
    b=sheet()
    right[name]=dict(size=[120,90],colors=[srgb(b.getpixel((x,y)),xy)+[255] for x,y in [((2*i+1)*120//8,(2*j+1)*90//8) for j in range(4) for i in range(4)]])
b=sheet(); right['bt709.avif']=dict(size=[128,96],colors=[list(b.getpixel((16+32*i,12+24*j)))+[255] for j in range(4) for i in range(4)])
json.dump(right,open(OUT+'heif.json','w'),sort_keys=True,separators=(',',':'))
